/**
 * Loads a module of the operator. Node caches a module by its URL, and one that threw with its error, so a file that changed or threw
 * is imported under another URL. Files that it imports keep their URL: if one of them threw, only a restart loads it again.
 */
import { statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { failedModule, recordImports } from './failed-imports.ts'
import { packageScopeOf, rereadPackageScope } from './package-scope.ts'
import { offerSdkToModules } from './sdk-imports.ts'

/** How often each file threw. A file that loads keeps its URL, so that it is loaded once. */
const throwCounts = new Map<string, number>()

/** `path` is for messages. */
export async function loadModule(file: string, path: string): Promise<Readonly<Record<string, unknown>>> {
  const stat = statSync(file, { throwIfNoEntry: false })
  if (stat === undefined) throw new Error(`the file ${path} does not exist`)
  offerSdkToModules()
  const scope = packageScopeOf(file)
  const scoped = scope === undefined ? undefined : statSync(scope.file, { throwIfNoEntry: false })
  const throws = throwCounts.get(file) ?? 0
  const version = [stat.mtimeMs, stat.size, scoped?.mtimeMs, scoped?.size, throws].join('-')
  const url = `${pathToFileURL(file).href}?${version}`
  // CommonJS is cached by its path instead. The same URL is not loaded again.
  delete createRequire(file).cache[file]
  const endRecording = recordImports()
  try {
    return (await import(url)) as Record<string, unknown>
  } catch (cause) {
    if (scope?.type === 'commonjs' && cause instanceof SyntaxError) {
      rereadPackageScope(scope)
      throw new Error(commonJsSentence(path, relative(dirname(file), scope.file), cause), { cause })
    }
    const missing = cause instanceof SyntaxError ? missingExport.exec(cause.message) : null
    if (missing !== null) {
      throw new Error(`${messageOf(cause)}. If ${missing[1]} has changed, restart the hub to load it again`, { cause })
    }
    const failed = await failedModule(url, cause)
    if (failed === url) throwCounts.set(file, throws + 1)
    const place = failed === undefined ? syntaxErrorPlace(cause) : failed === url ? placeIn(file, cause) : undefined
    if (place !== undefined) {
      const shown = place.file === file ? path : relative(dirname(file), place.file)
      throw new Error(`${shown}:${place.line}: ${messageOf(cause)}`, { cause })
    }
    if (failed === undefined || failed === url) throw cause
    const imported = relative(dirname(file), fileURLToPath(failed))
    throw new Error(
      `${imported}, which ${path} imports, threw: ${messageOf(cause)}. Restart the hub to load it again`,
      {
        cause,
      },
    )
  } finally {
    endRecording()
  }
}

/** Node writes `file:line` before the name of the error for TypeScript; for JavaScript it tells no place. */
function syntaxErrorPlace(cause: unknown): { readonly file: string; readonly line: string } | undefined {
  const [, file, line] = (cause instanceof SyntaxError && /^(\/.+):(\d+)\n/.exec(cause.stack ?? '')) || []
  return file === undefined || line === undefined ? undefined : { file, line }
}

/** The line of a file from which an error was thrown. */
function placeIn(file: string, cause: unknown): { readonly file: string; readonly line: string } | undefined {
  const { stack } = Object(cause) as { readonly stack?: unknown }
  const frame = (typeof stack === 'string' ? stack.split('\n') : []).find((text) =>
    text.includes(pathToFileURL(file).href),
  )
  const line = /:(\d+):\d+\)?$/.exec(frame ?? '')?.[1]
  return line === undefined ? undefined : { file, line }
}

/** Node compares with the version of the imported file that it loaded first. */
const missingExport = /^The requested module '(.+)' does not provide an export named/

function messageOf(cause: unknown): string {
  return (cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, '')
}

/** Other syntax errors are possible there, so Node's message is kept. */
function commonJsSentence(path: string, packageFile: string, { message }: SyntaxError): string {
  const [said = ''] = message.split('\n')
  return (
    `${path} is loaded as CommonJS because ${packageFile} has "type": "commonjs" (${said}). ` +
    `Set "type": "module" there, or rename the file to ${path.replace(/([jt]s)$/, 'm$1')}`
  )
}
