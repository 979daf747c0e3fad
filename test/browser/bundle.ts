/** Bundles for a browser like an application does: esbuild, minified, modules, split at `import()`. */
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import type { BuildOptions, Metafile } from 'esbuild'

const root = join(import.meta.dirname, '../..')

export interface Chunk {
  readonly file: string
  readonly text: string
  readonly gzipBytes: number
  /** Paths of the modules in it, from the root of the repository. */
  readonly modules: readonly string[]
  readonly output: Metafile['outputs'][string]
}

export interface Bundle {
  readonly entry: string
  readonly chunks: ReadonlyMap<string, Chunk>
  /** These files and what they import at once, as a browser loads them: dynamic imports are not followed. */
  load(...files: readonly string[]): readonly Chunk[]
  /** The file of the chunk that `import()` of this module loads. */
  fileOf(module: string): string
}

export async function bundle(program: string, options: BuildOptions = {}): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: program, resolveDir: import.meta.dirname, sourcefile: 'entry.ts', loader: 'ts' },
    absWorkingDir: root,
    outdir: 'out',
    bundle: true,
    minify: true,
    format: 'esm',
    splitting: true,
    platform: 'browser',
    conditions: ['parley-source'],
    metafile: true,
    logLevel: 'silent',
    ...options,
    write: false,
  })
  const outputs = Object.entries(metafile?.outputs ?? {})
  const chunks = new Map(
    outputs.map(([path, output]): [string, Chunk] => {
      const file = basename(path)
      const made = outputFiles.find((other) => basename(other.path) === file)
      const text = made?.text ?? ''
      const gzipBytes = gzipSync(made?.contents ?? '', { level: 9 }).length
      return [file, { file, text, gzipBytes, modules: Object.keys(output.inputs), output }]
    }),
  )
  const fileOf = (module: string): string => {
    const found = outputs.find(([, { entryPoint }]) => entryPoint?.endsWith(module))
    if (found === undefined) throw new Error(`${module} is not loaded on demand`)
    return basename(found[0])
  }
  return {
    entry: fileOf('entry.ts'),
    chunks,
    fileOf,
    load(...files) {
      const loaded = new Set<Chunk>()
      const visit = (file: string): void => {
        const chunk = chunks.get(file)
        if (chunk === undefined || loaded.has(chunk)) return
        loaded.add(chunk)
        for (const { kind, path } of chunk.output.imports) if (kind === 'import-statement') visit(basename(path))
      }
      files.forEach(visit)
      return [...loaded]
    },
  }
}

export const gzipBytesOf = (chunks: Iterable<Chunk>): number =>
  [...chunks].reduce((sum, { gzipBytes }) => sum + gzipBytes, 0)
