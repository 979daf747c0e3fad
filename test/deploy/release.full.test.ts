/** `npm run release` in a copy of what it changes: versions, ranges, the lockfile, notes, the commit and the tag. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { publishedPackages } from '../../scripts/build-packages.ts'
import { release } from '../../scripts/release.ts'
import { bumps, parseChangeNote, writeChangeNote } from '../../scripts/release/change-notes.ts'
import { addRelease, releaseNotes } from '../../scripts/release/changelog.ts'
import { currentVersion, nextVersion } from '../../scripts/release/package-versions.ts'

const root = join(import.meta.dirname, '../..')
const date = '2026-01-31'

/** A repository with the files of this one that a release reads. */
function copyRepository(): { readonly copy: string; git(...args: readonly string[]): string } {
  const copy = mkdtempSync(join(tmpdir(), 'parley-release-'))
  after(() => rmSync(copy, { recursive: true }))
  const files = [
    'package.json',
    'package-lock.json',
    '.npmrc',
    'CHANGELOG.md',
    '.agents/skills/a2a/SKILL.md',
    'docs/reference/cli-compliance.md',
    'docs/reference/cli-compliance.yaml',
    ...globSync(['packages/*/package.json', 'packages/create-parley/template/package.json', 'deploy/**/*.*'], {
      cwd: root,
    }),
    'deploy/Containerfile',
  ]
  for (const file of files.filter((path) => existsSync(join(root, path)))) {
    cpSync(join(root, file), join(copy, file), { recursive: true })
  }
  const git = (...args: readonly string[]): string => execFileSync('git', args, { cwd: copy, encoding: 'utf8' }).trim()
  git('init', '-q')
  git('config', 'user.name', 'Test')
  git('config', 'user.email', 'test@example.com')
  commit(git)
  return { copy, git }
}

function commit(git: (...args: readonly string[]) => string): void {
  git('add', '-A')
  git('commit', '-q', '-m', 'Change')
}

function readPackage(folder: string): { version: string; dependencies?: Record<string, string> } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as never
}

describe('npm run release', () => {
  it('sets one version in all packages, in what they depend on and in the lockfile', () => {
    const { copy, git } = copyRepository()
    const from = currentVersion(copy)
    writeChangeNote(copy, 'patch', 'Repairs a stream.')
    writeChangeNote(copy, 'minor', '**New:** a command.\nWith a second line.')
    commit(git)
    const { version, files, notes } = release({ root: copy, date })
    assert.equal(version, nextVersion(from, 'minor'))
    for (const name of publishedPackages) {
      const { version: written, dependencies = {} } = readPackage(join(copy, 'packages', name))
      assert.equal(written, version, name)
      for (const [dependency, range] of Object.entries(dependencies)) {
        if (/^@parley\/|^create-parley$/.test(dependency)) assert.equal(range, version, `${name}: ${dependency}`)
        else assert.equal(range, readPackage(join(root, 'packages', name)).dependencies?.[dependency])
      }
    }
    const template = readPackage(join(copy, 'packages/create-parley/template'))
    assert.equal(template.dependencies?.['@parley/hub'], version)
    assert.ok(notes.endsWith('- **New:** a command.\n  With a second line.\n- Repairs a stream.'), notes)
    assert.ok(files.includes('package-lock.json'))

    assert.equal(git('log', '-1', '--format=%s'), `Release ${version}`)
    assert.equal(git('status', '--porcelain'), '')
    assert.equal(git('tag', '--points-at', 'HEAD'), `v${version}`)
    assert.ok(git('tag', '--list', '--format=%(contents)', `v${version}`).includes('- Repairs a stream.'))
    assert.deepEqual(globSync('.changes/*.md', { cwd: copy }), [])
    // No file still has the old version of one of our packages.
    const lockfile = readFileSync(join(copy, 'package-lock.json'), 'utf8')
    assert.doesNotMatch(lockfile, new RegExp(`"(@parley/\\w+|create-parley)": "${from.replaceAll('.', '\\.')}"`))
    assert.equal(lockfile, expectedLockfile(from, version))
  })

  it('changes nothing in a dry run', () => {
    const { copy, git } = copyRepository()
    const before = git('rev-parse', 'HEAD')
    const { version } = release({ root: copy, version: 'minor', date, isDryRun: true })
    assert.equal(version, nextVersion(currentVersion(root), 'minor'))
    assert.deepEqual([git('rev-parse', 'HEAD'), git('status', '--porcelain'), git('tag')], [before, '', ''])
  })

  it('refuses a dirty tree, an old version and a tag that exists', () => {
    const { copy, git } = copyRepository()
    assert.throws(() => release({ root: copy, date }), /no change notes/)
    assert.throws(() => release({ root: copy, date, version: '0.0.1' }), /is not after/)
    assert.throws(() => release({ root: copy, date, version: 'next' }), /neither a version nor/)
    writeFileSync(join(copy, 'new.txt'), 'new')
    assert.throws(() => release({ root: copy, date, version: 'patch' }), /working tree has changes/)
    rmSync(join(copy, 'new.txt'))
    git('tag', `v${nextVersion(currentVersion(copy), 'patch')}`)
    assert.throws(() => release({ root: copy, date, version: 'patch' }), /The tag \S+ exists/)
  })

  it('changes nothing if the commit or the tag fails', () => {
    const { copy, git } = copyRepository()
    writeChangeNote(copy, 'patch', 'Repairs a stream.')
    commit(git)
    const state = (): readonly string[] => [git('rev-parse', 'HEAD'), git('status', '--porcelain'), git('tag')]
    const before = state()
    const hook = join(copy, '.git/hooks/pre-commit')
    writeFileSync(hook, '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    assert.throws(() => release({ root: copy, date }))
    assert.deepEqual(state(), before)
    rmSync(hook)
    git('config', 'tag.gpgSign', 'true')
    git('config', 'gpg.program', 'false')
    assert.throws(() => release({ root: copy, date }))
    assert.deepEqual(state(), before)
  })

  it('releases a pre-release and then its release', () => {
    const { copy, git } = copyRepository()
    assert.equal(release({ root: copy, date, version: '9.0.0-rc.1' }).tag, 'v9.0.0-rc.1')
    writeChangeNote(copy, 'patch', 'The last repair.')
    commit(git)
    assert.equal(release({ root: copy, date }).version, '9.0.0')
    assert.equal(releaseNotes(readFileSync(join(copy, 'CHANGELOG.md'), 'utf8'), '9.0.0'), '- The last repair.')
  })

  it('releases a pre-release unchanged', () => {
    const { copy } = copyRepository()
    release({ root: copy, date, version: '9.0.0-rc.1' })
    assert.throws(() => release({ root: copy, date, version: '9.0.0-rc.2' }), /nothing to release/)
    assert.equal(release({ root: copy, date, version: '9.0.0' }).notes, '- No changes since 9.0.0-rc.1.')
  })
})

describe('versions', () => {
  it('follow the bump; before 1.0.0 a major change is a minor version', () => {
    assert.deepEqual(
      [nextVersion('0.1.2', 'patch'), nextVersion('0.1.2', 'minor'), nextVersion('0.1.2', 'major')],
      ['0.1.3', '0.2.0', '0.2.0'],
    )
    assert.deepEqual([nextVersion('1.4.2', 'minor'), nextVersion('1.4.2', 'major')], ['1.5.0', '2.0.0'])
  })

  it('complete a pre-release that is as large as the bump', () => {
    const next = (version: string): readonly string[] => bumps.map((bump) => nextVersion(version, bump))
    assert.deepEqual(next('1.0.0-rc.1'), ['1.0.0', '1.0.0', '1.0.0'])
    assert.deepEqual(next('0.2.0-rc.1'), ['0.2.0', '0.2.0', '0.2.0'])
    assert.deepEqual(next('1.2.0-rc.1'), ['1.2.0', '1.2.0', '2.0.0'])
    assert.deepEqual(next('1.2.3-rc.1'), ['1.2.3', '1.3.0', '2.0.0'])
  })
})

describe('change notes and the changelog', () => {
  it('report a file without a bump or a text', () => {
    assert.deepEqual(parseChangeNote('a.md', 'bump: minor\n\nText.\n'), { file: 'a.md', bump: 'minor', text: 'Text.' })
    assert.throws(() => parseChangeNote('a.md', 'Text.'), /a\.md must begin with "bump: patch \| minor \| major"/)
    assert.throws(() => parseChangeNote('a.md', 'bump: minor\n\n\n'), /a\.md has no text/)
  })

  it('keep the released sections', () => {
    const before = '# Changelog\n\n## Unreleased\n\n- One.\n\n## 0.1.0 (2025-12-31)\n\n- First.\n'
    const after =
      '# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-01-31)\n\n- One.\n- Two.\n\n## 0.1.0 (2025-12-31)\n\n- First.\n'
    assert.equal(addRelease(before, '0.2.0', date, ['- Two.']), after)
    assert.equal(releaseNotes(after, '0.1.0'), '- First.')
    assert.equal(releaseNotes(after, '0.2.0'), '- One.\n- Two.')
    assert.throws(() => addRelease(after, '0.3.0', date, []), /nothing to release/)
    assert.throws(() => releaseNotes(after, '0.4.0'), /no section for 0\.4\.0/)
  })
})

/** The lockfile of the repository with the new version in the places of our packages: no other line may change. */
function expectedLockfile(from: string, version: string): string {
  const lines = readFileSync(join(root, 'package-lock.json'), 'utf8').split('\n')
  let isOurs = false
  return lines
    .map((line) => {
      if (/^ {4}"/.test(line)) isOurs = /^ {4}"packages\/[\w-]+": \{$/.test(line)
      const names = isOurs && /^ {6}"version"|^ {8}"(@parley\/\w+|create-parley)": "/.test(line)
      return names ? line.replace(`"${from}"`, `"${version}"`) : line
    })
    .join('\n')
}
