/**
 * `npm run pack [folder] [--repository <url>]`: builds the packages and packs them for `npm publish <file>`. npm publishes with provenance only if
 * the package names the repository that the workflow runs in. A packed `package.json` has no condition
 * `parley-source`, because the sources are not in the package.
 */
import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { buildConsole } from './build-console.ts'
import { buildPackages, publishedPackages, readManifest, type PackageManifest } from './build-packages.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')

/** As `npm pack --json` describes it. */
export interface PackedPackage {
  readonly name: string
  readonly version: string
  readonly filename: string
  /** Of the archive, in bytes. */
  readonly size: number
  readonly integrity: string
  readonly files: readonly { readonly path: string; readonly size: number }[]
}

/** `repository` is the URL of the source code, if the package shall name it. */
export function publishedManifest(manifest: PackageManifest, repository?: string): PackageManifest {
  const exports = Object.entries(manifest.exports).map(([path, entry]) => {
    if (typeof entry === 'string') return [path, entry]
    const { 'parley-source': _source, ...conditions } = entry
    return [path, conditions]
  })
  const published = { ...manifest, exports: Object.fromEntries(exports) as PackageManifest['exports'] }
  if (repository === undefined) return published
  const directory = `packages/${manifest.name.replace('@parley/', '')}`
  return { ...published, repository: { type: 'git', url: `git+${repository}.git`, directory } }
}

/** Packs what `buildPackages` and `buildConsole` have built. */
export async function packPackages(destination: string, repository?: string): Promise<readonly PackedPackage[]> {
  mkdirSync(destination, { recursive: true })
  return Promise.all(publishedPackages.map((name) => packPackage(name, destination, repository)))
}

async function packPackage(name: string, destination: string, repository?: string): Promise<PackedPackage> {
  const folder = join(root, 'packages', name)
  const staging = join(destination, `staging-${name}`)
  const manifest = readManifest(folder)
  const { files = [] } = manifest as { readonly files?: readonly string[] }
  rmSync(staging, { recursive: true, force: true })
  mkdirSync(staging)
  for (const file of [...files, 'README.md', 'LICENSE']) {
    if (existsSync(join(folder, file))) cpSync(join(folder, file), join(staging, file), { recursive: true })
  }
  writeFileSync(join(staging, 'package.json'), `${JSON.stringify(publishedManifest(manifest, repository), null, 2)}\n`)
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', destination], { cwd: staging })
  rmSync(staging, { recursive: true })
  // An array, or since npm 12 an object by name.
  return Object.values(JSON.parse(stdout) as Record<string, PackedPackage>)[0] as PackedPackage
}

if (import.meta.main) {
  const options = { repository: { type: 'string' } } as const
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  await buildPackages()
  await buildConsole()
  const destination = resolve(positionals[0] ?? 'node_modules/.cache/parley-packages')
  for (const { filename, size, files } of await packPackages(destination, values.repository)) {
    console.log(`${join(destination, filename)}: ${Math.ceil(size / 1_000)} kB, ${files.length} files`)
  }
}
