/**
 * The hub as a few ES modules that need nothing but Node: what its bundle (bundle-hub.ts) and its executable (executable.ts) share. Code that
 * most runs do not need stays behind `import()`, in chunks: one module for everything took a command of the terminal 0.4 s instead
 * of 0.08, because Node then reads 5.6 MB to print a version.
 */
import { join } from 'node:path'
import { build, type Metafile, type OutputFile, type Plugin } from 'esbuild'
import { skillFiles } from '../../packages/cli/src/skill-files.ts'
import { readManifest } from '../build-packages.ts'

const root = join(import.meta.dirname, '../..')
const packages = join(root, 'packages')

/** The program of the hub. */
export const programFile = 'parley.js'
/** The SDK for modules of the operator, whose imports of `@parley/a2a` find it there (hub/agents/module/sdk-imports.ts). */
export const sdkFolder = 'node_modules/@parley/a2a'
/** Entry points of the SDK that are for tests, not for agents. */
const withoutAgents = ['./testing']

export interface HubModules {
  /** Paths in the bundle, such as `parley.js` and `lib/chunk-….js`. */
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly inputs: Metafile['inputs']
  /** What the modules import from outside the bundle. */
  readonly externals: readonly string[]
  /** Of the hub, and so of all packages: they are released together. */
  readonly version: string
}

export async function buildHubModules(plugins: readonly Plugin[] = []): Promise<HubModules> {
  const { version } = readManifest(join(packages, 'hub'))
  const outdir = join(root, 'node_modules/.cache/parley-bundle')
  const { outputFiles, metafile } = await build({
    entryPoints: { [withoutExtension(programFile)]: join(packages, 'hub/src/cli/main.ts'), ...sdkEntries() },
    outdir,
    absWorkingDir: root,
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    conditions: ['parley-source'],
    // pg loads it only if a program asks for it.
    external: ['pg-native'],
    chunkNames: 'lib/chunk-[hash]',
    // CommonJS packages in the bundle call `require` for modules of Node.
    banner: {
      js: `import{createRequire as createRequire_}from'node:module';const require=createRequire_('file:///');`,
    },
    plugins: [packageFilesAsConstants(version), ...plugins],
    // Names stay as they are, so that a stack trace in a report can be read.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    logLevel: 'warning',
  })
  const pathOf = ({ path }: OutputFile): string => path.slice(outdir.length + 1).replaceAll('\\', '/')
  return {
    files: new Map(outputFiles.map((file) => [pathOf(file), file.contents])),
    inputs: metafile.inputs,
    externals: [...new Set(Object.values(metafile.outputs).flatMap(externalImports))],
    version,
  }
}

function externalImports({ imports }: Metafile['outputs'][string]): readonly string[] {
  return imports.flatMap(({ external = false, path }) => (external ? [path] : []))
}

/** By the path in the bundle, without its extension: the file of the source. */
function sdkEntries(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    sdkEntryPoints().map(([entry, source]) => [withoutExtension(`${sdkFolder}/${moduleOf(entry)}`), source]),
  )
}

function sdkEntryPoints(): readonly (readonly [entry: string, source: string])[] {
  const folder = join(packages, 'a2a')
  return Object.entries(readManifest(folder).exports).flatMap(([entry, conditions]) =>
    typeof conditions === 'string' || withoutAgents.includes(entry)
      ? []
      : [[entry, join(folder, conditions['parley-source'] ?? '')] as const],
  )
}

/** `.` is `index.js`, `./stores/sqlite` is `stores/sqlite.js`. */
function moduleOf(entry: string): string {
  return entry === '.' ? 'index.js' : `${entry.slice(2)}.js`
}

function withoutExtension(file: string): string {
  return file.replace(/\.js$/, '')
}

/** The `package.json` by which Node resolves an import of the SDK in the bundle. */
export function sdkManifest(): object {
  const { name, version, license } = readManifest(join(packages, 'a2a'))
  const exports = sdkEntryPoints().map(([entry]) => [entry, `./${moduleOf(entry)}`])
  return { name, version, license, type: 'module', exports: Object.fromEntries(exports) as object }
}

/** In a package, these read the version from its `package.json`, or other files of the package. The bundle has another layout. */
function packageFilesAsConstants(version: string): Plugin {
  const sources: Readonly<Record<string, string>> = {
    [join(packages, 'hub/src/config/hub-version.ts')]:
      `export function hubVersion() { return ${JSON.stringify(version)} }`,
    [join(packages, 'cli/src/version.ts')]: `export function programVersion() { return ${JSON.stringify(version)} }`,
    [join(packages, 'cli/src/skill-files.ts')]:
      `export function skillFiles() { return new Map(${JSON.stringify([...skillFiles()])}) }`,
  }
  return {
    name: 'package-files-as-constants',
    setup({ onLoad }) {
      onLoad({ filter: /\/((hub-)?version|skill-files)\.ts$/ }, ({ path }) => {
        const contents = sources[path]
        return contents === undefined ? undefined : { contents }
      })
    },
  }
}
