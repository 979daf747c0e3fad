/** Loads code of the operator, again after each change of its file. */
import { statSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { packageScopeOf, rereadPackageScope } from './package-scope.ts'

/** Node caches every module by its URL, so a changed file needs a new URL. `path` is for messages. */
export async function loadModule(file: string, path: string): Promise<Readonly<Record<string, unknown>>> {
  const stat = statSync(file, { throwIfNoEntry: false })
  if (stat === undefined) throw new Error(`the file ${path} does not exist`)
  const scope = packageScopeOf(file)
  const scoped = scope === undefined ? undefined : statSync(scope.file, { throwIfNoEntry: false })
  const version = [stat.mtimeMs, stat.size, scoped?.mtimeMs, scoped?.size].join('-')
  try {
    return (await import(`${pathToFileURL(file).href}?${version}`)) as Record<string, unknown>
  } catch (cause) {
    if (scope?.type !== 'commonjs' || !(cause instanceof SyntaxError)) throw cause
    rereadPackageScope(scope)
    throw new Error(commonJsSentence(path, relative(dirname(file), scope.file), cause), { cause })
  }
}

/** Other syntax errors are possible there, so Node's message is kept. */
function commonJsSentence(path: string, packageFile: string, { message }: SyntaxError): string {
  const [said = ''] = message.split('\n')
  return (
    `${path} is loaded as CommonJS because ${packageFile} has "type": "commonjs" (${said}). ` +
    `Set "type": "module" there, or rename the file to ${path.replace(/([jt]s)$/, 'm$1')}`
  )
}
