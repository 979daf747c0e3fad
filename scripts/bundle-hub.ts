/**
 * `npm run bundle -- <folder>`: the hub with the console, the command line `a2a` and the SDK in one folder that needs nothing but Node 24. It is
 * what the container image and other installations without npm contain. Start it with `node <folder>/parley.js`.
 */
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Plugin } from 'esbuild'
import { buildConsole } from './build-console.ts'
import { readManifest } from './build-packages.ts'
import { buildHubModules, programFile, sdkFolder, sdkManifest } from './bundle/hub-modules.ts'
import { thirdPartyNotices } from './bundle/third-party-notices.ts'

const root = join(import.meta.dirname, '..')

export interface HubBundle {
  readonly folder: string
  readonly version: string
  /** The file that Node starts. */
  readonly program: string
  /** What its modules import from outside: modules of Node, and packages that are optional. */
  readonly externals: readonly string[]
  readonly files: number
  readonly bytes: number
}

/** Replaces an older bundle in `folder`. Throws if the folder contains anything else. */
export async function bundleHub(folder: string, plugins: readonly Plugin[] = []): Promise<HubBundle> {
  removeBundle(folder)
  await buildConsole()
  const { files, inputs, externals, version } = await buildHubModules(plugins)
  const hub = join(root, 'packages/hub')
  for (const [path, contents] of files) write(join(folder, path), contents)
  const program = join(folder, programFile)
  chmodSync(program, 0o755)
  write(join(folder, 'package.json'), json(bundleManifest(hub)))
  write(join(folder, sdkFolder, 'package.json'), json(sdkManifest()))
  write(join(folder, 'NOTICE'), thirdPartyNotices(inputs))
  cpSync(join(hub, 'LICENSE'), join(folder, 'LICENSE'))
  cpSync(join(hub, 'parley.schema.json'), join(folder, 'parley.schema.json'))
  cpSync(join(root, 'packages/create-parley/template'), join(folder, 'template'), { recursive: true })
  const isStamp = (file: string): boolean => file.endsWith('made-of.txt')
  cpSync(join(hub, 'console'), join(folder, 'console'), { recursive: true, filter: (file) => !isStamp(file) })
  return { folder, version, program, externals, ...sizeOf(folder) }
}

const bundleName = '@parley/hub'
const bundleEntries: ReadonlySet<string> = new Set([
  programFile,
  'lib',
  'node_modules',
  'package.json',
  'NOTICE',
  'LICENSE',
  'parley.schema.json',
  'template',
  'console',
])

function bundleManifest(hub: string): object {
  const { name, version, description, license, engines } = readManifest(hub)
  return { name, version, private: true, description, license, type: 'module', engines, bin: { parley: programFile } }
}

function removeBundle(folder: string): void {
  if (!existsSync(folder) || readdirSync(folder).length === 0) return
  const isBundle = existsSync(join(folder, programFile)) && readManifest(folder).name === bundleName
  // A hub that was started in the folder has its configuration and its tasks there.
  const isOnlyBundle = isBundle && readdirSync(folder).every((name) => bundleEntries.has(name))
  if (!isOnlyBundle) throw new Error(`${folder} has other files than a bundle of the hub: name a new folder`)
  rmSync(folder, { recursive: true })
}

function write(file: string, contents: string | Uint8Array): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, contents)
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

function sizeOf(folder: string): { readonly files: number; readonly bytes: number } {
  const sizes = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => statSync(join(parentPath, name)).size)
  return { files: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) }
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2)
  if (folder === undefined) {
    console.error('Usage: npm run bundle -- <folder>')
    process.exit(2)
  }
  const { program, version, files, bytes } = await bundleHub(resolve(folder))
  console.log(`${program}: Parley ${version}, ${files} files, ${(bytes / 1e6).toFixed(1)} MB`)
}
