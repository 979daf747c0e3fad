/** Code of the operator's, as it is now: it is loaded anew when its file has changed. */
import { statSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

/** Node keeps every module that it has loaded, by its url: another text must have another one. `path` is for people. */
export async function loadModule(file: string, path: string): Promise<Readonly<Record<string, unknown>>> {
  const stat = statSync(file, { throwIfNoEntry: false })
  if (stat === undefined) throw new Error(`there is no file ${path}`)
  return (await import(`${pathToFileURL(file).href}?${stat.mtimeMs}-${stat.size}`)) as Record<string, unknown>
}
