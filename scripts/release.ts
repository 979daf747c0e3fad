/**
 * `npm run release`: one version for all packages, from the change notes in `.changes`. Writes the version and CHANGELOG.md, commits and tags.
 * Nothing leaves the machine: `git push --follow-tags` does, and the workflow `release.yml` publishes the tag.
 * docs/contributing/release.md has the reasons why this is not changesets.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { isBump, noteAsItem, readChangeNotes, writeChangeNote, type Bump } from './release/change-notes.ts'
import { addRelease, releaseNotes } from './release/changelog.ts'
import {
  currentVersion,
  filesWithVersion,
  largestBump,
  nextVersion,
  versionPattern,
} from './release/package-versions.ts'

export interface ReleaseOptions {
  readonly root: string
  /** A bump or a version. Default: the largest bump of the change notes. */
  readonly version?: Bump | (string & {}) | undefined
  /** As 2026-11-18. */
  readonly date: string
  /** Changes nothing. */
  readonly isDryRun?: boolean
}

export interface Release {
  readonly from: string
  readonly version: string
  readonly tag: string
  /** Paths of the files that change, and of the notes that are removed. */
  readonly files: readonly string[]
  readonly notes: string
}

export function release({ root, version: wanted, date, isDryRun = false }: ReleaseOptions): Release {
  const from = currentVersion(root)
  const changes = readChangeNotes(root)
  const version = wantedVersion(from, wanted ?? largestBump(changes.map(({ bump }) => bump)))
  const tag = `v${version}`
  const git = (...args: readonly string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  if (!isDryRun && git('status', '--porcelain') !== '')
    throw new Error('The working tree has changes: commit or stash them first')
  if (git('tag', '--list', tag) !== '') throw new Error(`The tag ${tag} exists`)

  const items = changes.map(noteAsItem)
  const changelog = addRelease(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version, date, items, from)
  const written = new Map([...filesWithVersion(root, from, version), ['CHANGELOG.md', changelog]])
  const removed = changes.map(({ file }) => file)
  const notes = releaseNotes(changelog, version)
  const result = { from, version, tag, files: [...written.keys(), ...removed].toSorted(), notes }
  if (isDryRun) return result

  const head = git('rev-parse', 'HEAD')
  try {
    for (const [file, text] of written) writeFileSync(join(root, file), text)
    for (const file of removed) rmSync(join(root, file))
    git('add', '--all', '--', ...result.files)
    git('commit', '--quiet', '--message', `Release ${version}`)
    // Lines with # are headings of the notes, not comments.
    git('tag', '--annotate', tag, '--cleanup=verbatim', '--message', `Parley ${version}\n\n${notes}\n`)
  } catch (error) {
    // A hook refused the commit, or the tag could not be signed. The working tree had no changes, so that nothing else is lost.
    git('reset', '--quiet', '--hard', head)
    throw error
  }
  return result
}

function wantedVersion(from: string, wanted: string | undefined): string {
  if (wanted === undefined) throw new Error('There are no change notes in .changes: name a version or a bump')
  if (isBump(wanted)) return nextVersion(from, wanted)
  if (!versionPattern.test(wanted)) throw new Error(`${wanted} is neither a version nor patch, minor or major`)
  if (compareVersions(wanted, from) <= 0) throw new Error(`${wanted} is not after ${from}`)
  return wanted
}

/** A pre-release precedes its release. */
function compareVersions(a: string, b: string): number {
  const [releaseA = '', preA] = splitVersion(a)
  const [releaseB = '', preB] = splitVersion(b)
  const byRelease = releaseA.localeCompare(releaseB, 'en', { numeric: true })
  if (byRelease !== 0 || preA === preB) return byRelease
  if (preA === undefined) return 1
  return preB === undefined ? -1 : preA.localeCompare(preB, 'en', { numeric: true })
}

function splitVersion(version: string): readonly string[] {
  return /^([^-]+)(?:-(.+))?$/.exec(version)?.slice(1) ?? []
}

const usage = `Usage:
  npm run release -- [patch | minor | major | <version>] [--dry-run]   commit and tag a release
  npm run release -- note <patch | minor | major> <text>               write a change note
  npm run release -- notes [<version>]                                 print the notes of a release`

function main(args: readonly string[]): void {
  const root = join(import.meta.dirname, '..')
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { 'dry-run': { type: 'boolean' } },
    allowPositionals: true,
  })
  const [first, second, ...words] = positionals
  if (first === 'note') {
    if (!isBump(second) || words.length === 0) throw new Error(usage)
    return console.log(`Wrote ${writeChangeNote(root, second, words.join(' '))}: edit and commit it`)
  }
  if (first === 'notes') {
    return console.log(releaseNotes(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), second ?? currentVersion(root)))
  }
  const isDryRun = values['dry-run'] === true
  const date = new Date().toISOString().slice(0, 10)
  const { from, version, tag, files, notes } = release({ root, version: first, date, isDryRun })
  console.log(
    `${from} → ${version}\n\n${notes}\n\n${isDryRun ? 'Would change' : 'Changed'}:\n  ${files.join('\n  ')}\n`,
  )
  console.log(
    isDryRun
      ? `Nothing was changed. Without --dry-run this commits and tags ${tag}.`
      : `Tagged ${tag}. Publish it: git push --follow-tags`,
  )
}

if (import.meta.main) {
  try {
    main(process.argv.slice(2))
  } catch (error) {
    console.error((error as Error).message)
    process.exitCode = 1
  }
}
