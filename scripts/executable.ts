/**
 * `npm run executable -- <file>`: the hub as one file that needs no Node, for the platform that runs this script. It is a copy of the running
 * Node with the bundle of the hub, the console and the template as assets (https://nodejs.org/api/single-executable-applications.html).
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { bundleHub } from './bundle-hub.ts'

const root = join(import.meta.dirname, '..')
/** Node looks for this text in its own binary; the last digit tells whether a blob follows. */
const sentinelFuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

export interface HubExecutable {
  readonly file: string
  readonly version: string
  readonly bytes: number
}

/** Replaces `file`. */
export async function buildExecutable(file: string): Promise<HubExecutable> {
  const cache = join(root, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const scratch = mkdtempSync(join(cache, 'parley-executable-'))
  try {
    const bundle = join(scratch, 'bundle')
    const { version } = await bundleHub(bundle, [embeddedFiles])
    const main = join(scratch, 'main.cjs')
    await bundleMain(main)
    const blob = createBlob(main, bundle, scratch)
    const unfinished = join(scratch, 'parley')
    copyNode(unfinished)
    injectBlob(unfinished, blob)
    mkdirSync(dirname(file), { recursive: true })
    // A running executable cannot be overwritten, but replaced.
    copyFileSync(unfinished, `${file}.new`)
    renameSync(`${file}.new`, file)
    return { file, version, bytes: statSync(file).size }
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

/** Sources that read files of their package, and what reads the same from the assets. */
const replacements: Readonly<Record<string, string>> = {
  'packages/hub/src/console/console-files.ts': 'embedded-console-files.ts',
  'packages/create-parley/src/package-files.ts': 'embedded-package-files.ts',
}

const embeddedFiles: Plugin = {
  name: 'embedded-files',
  setup({ onLoad }) {
    onLoad({ filter: /-files\.ts$/ }, ({ path }) => {
      const replacement = replacements[relative(root, path).replaceAll('\\', '/')]
      if (replacement === undefined) return undefined
      return { contents: readFileSync(join(import.meta.dirname, 'executable', replacement), 'utf8'), loader: 'ts' }
    })
  },
}

async function bundleMain(main: string): Promise<void> {
  const entry = join(import.meta.dirname, 'executable/executable-main.ts')
  await build({ entryPoints: [entry], outfile: main, format: 'cjs', platform: 'node', target: 'node24', bundle: true })
}

function createBlob(main: string, bundle: string, scratch: string): string {
  const files = globSync('**/*', { cwd: bundle, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  const config = join(scratch, 'sea-config.json')
  const output = join(scratch, 'parley.blob')
  const assets = Object.fromEntries(files.map((file) => [relative(bundle, file).replaceAll('\\', '/'), file]))
  writeFileSync(
    config,
    JSON.stringify({ main, output, assets, disableExperimentalSEAWarning: true, useCodeCache: true }),
  )
  execFileSync(process.execPath, ['--experimental-sea-config', config], { stdio: 'pipe' })
  return output
}

function copyNode(file: string): void {
  copyFileSync(process.execPath, file)
  chmodSync(file, 0o755)
  // A seventh of the binary is names for debuggers. Native addons need other names, which stay.
  if (process.platform === 'linux') spawnSync('strip', [file], { stdio: 'ignore' })
  if (process.platform === 'darwin') execFileSync('codesign', ['--remove-signature', file])
}

/** In a process of its own: postject warns of sections that Node has on purpose, so its output is shown only if it fails. */
function injectBlob(file: string, blob: string): void {
  const isMac = process.platform === 'darwin'
  const postject = join(root, 'node_modules/postject/dist/cli.js')
  const segment = isMac ? ['--macho-segment-name', 'NODE_SEA'] : []
  const args = [postject, file, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', sentinelFuse, ...segment]
  execFileSync(process.execPath, args, { stdio: 'pipe' })
  if (isMac) execFileSync('codesign', ['--sign', '-', file])
}

if (import.meta.main) {
  const [file] = process.argv.slice(2)
  if (file === undefined) {
    console.error('Usage: npm run executable -- <file>')
    process.exit(2)
  }
  const { version, bytes } = await buildExecutable(resolve(file))
  console.log(`${resolve(file)}: Parley ${version}, Node ${process.versions.node}, ${Math.round(bytes / 1e6)} MB`)
}
