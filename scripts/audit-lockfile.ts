/**
 * The rules for what `npm ci` may install: contents pinned by hash, licences that allow redistribution, no code
 * that runs during installation except the listed, and no package from outside the registry. Pure: `audit.ts` prints it.
 */
export interface LockedPackage {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly license?: string
  readonly link?: boolean
  readonly inBundle?: boolean
  readonly dev?: boolean
  readonly hasInstallScript?: boolean
}

export interface Lockfile {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

export interface LockfileAudit {
  readonly packages: number
  /** Those that users of a published package install. */
  readonly production: number
  readonly problems: readonly string[]
}

const permissiveLicenses = [
  'MIT',
  'MIT-0',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'ISC',
  'Zlib',
  'BlueOak-1.0.0',
]
/** Not distributed with Parley, so a licence that binds changed files, or one of data or of a language, is acceptable. */
const developmentLicenses = [...permissiveLicenses, 'MPL-2.0', 'CC0-1.0', 'Python-2.0']

/** The lockfile names no licence: their manifests have none, or the old list `licenses`. What their LICENSE files say. */
const reviewedLicenses: Readonly<Record<string, string>> = {
  'a2a-sdk-0.2': 'Apache-2.0',
  busboy: 'MIT',
  streamsearch: 'MIT',
  // By its README: the archive has no LICENSE file.
  '@modelcontextprotocol/server-everything': 'MIT',
}

/** What each does at installation; all work without it. */
const installScripts: Readonly<Record<string, string>> = {
  esbuild: 'checks that its binary for this platform exists',
  protobufjs: 'prints a notice about version ranges',
}

export function auditLockfile({ packages }: Lockfile): LockfileAudit {
  const problems: string[] = []
  let count = 0
  let production = 0
  for (const [path, locked] of Object.entries(packages)) {
    const name = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path)?.[1]
    // Our own workspaces have no such path, or are links to one.
    if (name === undefined || locked.link === true) continue
    count += 1
    if (locked.dev !== true) production += 1
    for (const problem of problemsOf(name, locked)) problems.push(`${path}: ${problem}`)
  }
  return { packages: count, production, problems }
}

function* problemsOf(name: string, locked: LockedPackage): Generator<string> {
  const { version, integrity, resolved, license = reviewedLicenses[name], dev, inBundle, hasInstallScript } = locked
  if (version === undefined) yield 'has no version'
  // A package inside another one's archive is covered by the hash of that archive.
  if (inBundle !== true && !/^sha512-[\w+/]{86}==$/.test(integrity ?? '')) yield 'has no sha512 integrity'
  if (resolved !== undefined) yield `comes from ${resolved}, not from the configured registry`
  const allowed = dev === true ? developmentLicenses : permissiveLicenses
  const known = name in reviewedLicenses ? reviewedLicenses[name] : license
  if (!isAllowed(known ?? '', allowed)) yield `has the licence ${license ?? '(none)'}, which is not on the list`
  if (hasInstallScript === true && !(name in installScripts)) yield 'runs a script when it is installed'
}

/** An SPDX expression of one level: all of an AND, one of an OR. */
function isAllowed(expression: string, allowed: readonly string[]): boolean {
  const bare = expression.replace(/^\(|\)$/g, '')
  if (bare.includes('(')) return false
  return bare.split(' OR ').some((choice) => choice.split(' AND ').every((name) => allowed.includes(name.trim())))
}
