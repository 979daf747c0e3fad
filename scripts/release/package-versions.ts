/** The version of all packages, which are released together, and every file that names it. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bumps, type Bump } from './change-notes.ts'

export const versionPattern = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/

/** The version of every package. Throws if they differ. */
export function currentVersion(root: string): string {
  const versions = manifests(root).map((file) => [file, (readJson(join(root, file)) as { version?: string }).version])
  const [, version = ''] = versions[0] ?? []
  const other = versions.find(([, one]) => one !== version)
  if (other !== undefined) throw new Error(`${other.join(' has the version ')}, and the others have ${version}`)
  return version
}

/** Before 1.0.0 a minor version may break, so that a major change is a minor version. */
export function nextVersion(version: string, bump: Bump): string {
  const [release = '', preRelease] = version.split('-')
  const [major = 0, minor = 0, patch = 0] = release.split('.').map(Number)
  const effective = major === 0 && bump === 'major' ? 'minor' : bump
  // The release that a pre-release precedes, if it is as large as the bump: 1.0.0-rc.1 becomes 1.0.0 by any bump.
  const releasedBump = patch > 0 ? 'patch' : minor > 0 || major === 0 ? 'minor' : 'major'
  if (preRelease !== undefined && bumps.indexOf(effective) <= bumps.indexOf(releasedBump)) return release
  if (effective === 'major') return `${major + 1}.0.0`
  return effective === 'minor' ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`
}

export function largestBump(found: readonly Bump[]): Bump | undefined {
  return bumps.findLast((bump) => found.includes(bump))
}

/** Files that name the version, and what precedes it there. The template's own version is that of a new project. */
const places: readonly (readonly [glob: string, before: RegExp])[] = [
  ['packages/create-parley/template/package.json', /^ +"@parley\/[^"]+": "/gm],
  ['examples/*/package.json', /^ +"@parley\/[^"]+": "/gm],
  ['.agents/skills/a2a/SKILL.md', /^ {2}version: "/gm],
  ['docs/reference/cli-compliance.md', /^\| tool version \| /gm],
  ['docs/reference/cli-compliance.yaml', /^ {2}tool_version: /gm],
  ['deploy/Containerfile', /^ARG VERSION=/gm],
  ['deploy/compose.yaml', /\/parley:/gm],
  ['deploy/helm/parley/Chart.yaml', /^(?:appVersion|version): /gm],
]

/** The new content of each file that changes, by its path. */
export function filesWithVersion(root: string, from: string, to: string): ReadonlyMap<string, string> {
  const changed = new Map<string, string>()
  for (const file of manifests(root)) changed.set(file, json(packageWithVersion(readJson(join(root, file)), to)))
  changed.set('package-lock.json', json(lockfileWithVersion(readJson(join(root, 'package-lock.json')), to)))
  const files = places.flatMap(([glob, before]) =>
    globSync(glob, { cwd: root }).map((file) => [file.replaceAll('\\', '/'), before] as const),
  )
  for (const [file, before] of files) {
    const text = readFileSync(join(root, file), 'utf8')
    const pattern = new RegExp(`(${before.source})${from.replaceAll('.', '\\.')}`, before.flags)
    const replaced = text.replace(pattern, (_, start: string) => start + to)
    if (replaced === text) throw new Error(`${file} does not name the version ${from}`)
    changed.set(file, replaced)
  }
  return changed
}

interface Manifest {
  readonly version?: string
  readonly dependencies?: Readonly<Record<string, string>>
}

/** Packages depend on each other by exact versions. */
function packageWithVersion(manifest: Manifest, version: string): Manifest {
  const { dependencies } = manifest
  if (dependencies === undefined) return { ...manifest, version }
  const replaced = Object.entries(dependencies).map(([name, range]) => [name, isOurs(name) ? version : range])
  return { ...manifest, version, dependencies: Object.fromEntries(replaced) as Record<string, string> }
}

function lockfileWithVersion(lockfile: { readonly packages?: Readonly<Record<string, Manifest>> }, version: string) {
  const packages = Object.entries(lockfile.packages ?? {}).map(([place, manifest]) => [
    place,
    place.startsWith('packages/') && !place.includes('node_modules') ? packageWithVersion(manifest, version) : manifest,
  ])
  return { ...lockfile, packages: Object.fromEntries(packages) as object }
}

function isOurs(name: string): boolean {
  return name.startsWith('@parley/') || name === 'create-parley'
}

function manifests(root: string): readonly string[] {
  return globSync('packages/*/package.json', { cwd: root }).toSorted()
}

function readJson(file: string): object {
  return JSON.parse(readFileSync(file, 'utf8')) as object
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
