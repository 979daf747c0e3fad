/**
 * The bill of materials of a release, in CycloneDX 1.6: the published packages, and every package that they need or contain, from the
 * lockfile. (`npm sbom` omits dependencies of a workspace that are also development dependencies of the repository, such as pg and zod.)
 */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { publishedPackages } from '../build-packages.ts'

interface LockedPackage {
  readonly name?: string
  readonly version?: string
  readonly license?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly link?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
}
type LockedPackages = Readonly<Record<string, LockedPackage>>

interface Component {
  readonly type: 'library'
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly licenses: readonly { readonly expression: string }[]
  readonly hashes?: readonly { readonly alg: 'SHA-512'; readonly content: string }[]
}

export interface BillOfMaterials {
  readonly bomFormat: 'CycloneDX'
  readonly specVersion: '1.6'
  readonly version: 1
  readonly metadata: { readonly component: object }
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

/** The console has no package of its own: the hub contains it with what it is built from. */
const shipped = [...publishedPackages, 'console']

export function billOfMaterials(root: string): BillOfMaterials {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: LockedPackages }
  const found = new Map<string, readonly string[]>()
  const visit = (place: string): void => {
    if (found.has(place)) return
    const needed = Object.keys(packages[place]?.dependencies ?? {}).map((name) => locate(packages, name, place))
    found.set(place, needed)
    for (const next of needed) visit(next)
  }
  for (const name of shipped) visit(`packages/${name}`)

  const components = [...found.keys()].map((place) => componentOf(place, packages[place] ?? {}))
  const refs = new Map([...found.keys()].map((place, at) => [place, components[at]?.['bom-ref'] ?? '']))
  const hub = packages['packages/hub']?.version ?? ''
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', 'bom-ref': 'parley', name: 'Parley', version: hub } },
    components: components.toSorted((a, b) => a['bom-ref'].localeCompare(b['bom-ref'], 'en')),
    dependencies: [
      { ref: 'parley', dependsOn: shipped.map((name) => refs.get(`packages/${name}`) ?? '') },
      ...[...found].map(([place, needed]) => ({
        ref: refs.get(place) ?? '',
        dependsOn: needed.map((one) => refs.get(one) ?? ''),
      })),
    ],
  }
}

/** As Node would find it: beside the package, or in a folder above. */
function locate(packages: LockedPackages, name: string, place: string): string {
  for (let folder = place; ; folder = dirname(folder)) {
    const candidate = `${folder === '.' ? '' : `${folder}/`}node_modules/${name}`
    const { link = false, resolved = '' } = packages[candidate] ?? {}
    if (candidate in packages) return link ? resolved : candidate
    if (folder === '.') throw new Error(`The lockfile has no ${name} for ${place}`)
  }
}

function componentOf(place: string, locked: LockedPackage): Component {
  const name = locked.name ?? place.replace(/^.*node_modules\/|^packages\//, '')
  const { version, license, integrity } = locked
  if (version === undefined || license === undefined) throw new Error(`${name} has no version or no license`)
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  const [, digest] = /^sha512-(\S+)$/.exec(integrity ?? '') ?? []
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    licenses: [{ expression: license }],
    ...(digest === undefined
      ? {}
      : { hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }] }),
  }
}

if (import.meta.main) {
  console.log(JSON.stringify(billOfMaterials(join(import.meta.dirname, '../..')), null, 2))
}
