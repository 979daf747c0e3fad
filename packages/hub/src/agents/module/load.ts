/** Code of the operator's, as it is now: it is loaded anew when its file has changed. */
import { statSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { packageScopeOf, readAgain } from './package-scope.ts'

/** Node keeps every module that it has loaded, by its url: another text must have another one. `path` is for people. */
export async function loadModule(file: string, path: string): Promise<Readonly<Record<string, unknown>>> {
  const stat = statSync(file, { throwIfNoEntry: false })
  if (stat === undefined) throw new Error(`there is no file ${path}`)
  const scope = packageScopeOf(file)
  const scoped = scope === undefined ? undefined : statSync(scope.file, { throwIfNoEntry: false })
  const version = [stat.mtimeMs, stat.size, scoped?.mtimeMs, scoped?.size].join('-')
  try {
    return (await import(`${pathToFileURL(file).href}?${version}`)) as Record<string, unknown>
  } catch (cause) {
    if (scope?.type !== 'commonjs' || !(cause instanceof SyntaxError)) throw cause
    readAgain(scope)
    throw new Error(commonJsSentence(path, relative(dirname(file), scope.file), cause), { cause })
  }
}

/** Other syntax errors are possible there, so Node's own words stay. */
function commonJsSentence(path: string, packageFile: string, { message }: SyntaxError): string {
  const [said = ''] = message.split('\n')
  return (
    `${path} is read as CommonJS, because ${packageFile} has "type": "commonjs" (${said}). ` +
    `Set "type": "module" there, or rename the file to ${path.replace(/([jt]s)$/, 'm$1')}`
  )
}
