/**
 * Which imported file made a module fail. Node evaluates a file once and rejects every later import of one that threw with the same
 * error, also after the file was corrected.
 */
import { registerHooks } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'

type Resolve = NonNullable<Parameters<typeof registerHooks>[0]['resolve']>

/** The URLs that each module imports, in order, while modules are being loaded. */
const importsOf = new Map<string, string[]>()
interface KeptError {
  readonly error: unknown
  /** The file and those that fail because they import it. */
  readonly files: ReadonlySet<string>
}

/** The errors that Node keeps, by the URL of the file. */
const keptErrors = new Map<string, KeptError>()
let recordings = 0
let isRegistered = false

/** Call it before an import; call the result when `failedModule` is no longer needed. */
export function recordImports(): () => void {
  if (!isRegistered) registerHooks({ resolve })
  isRegistered = true
  recordings += 1
  return () => {
    recordings -= 1
    if (recordings === 0) importsOf.clear()
  }
}

const resolve: Resolve = (specifier, context, next) => {
  const resolved = next(specifier, context)
  const { parentURL, conditions } = context
  // Another `require` runs a file that threw again.
  if (!conditions.includes('import')) return resolved
  if (recordings > 0 && parentURL !== undefined && resolved.url.startsWith('file:')) {
    const urls = importsOf.get(parentURL)
    if (urls === undefined) importsOf.set(parentURL, [resolved.url])
    else urls.push(resolved.url)
  }
  // Without this, Node (24) takes a CommonJS file that threw for one that exports nothing, and ends the process with an unhandled
  // rejection.
  const kept = keptErrors.get(resolved.url)
  if (kept !== undefined) throw kept.error
  return resolved
}

/**
 * The URL of the file that threw `cause` when the module at `url` was evaluated: the module itself, or one that it imports.
 * `undefined` if it was not evaluated, for example because of a syntax error. Node does not keep such errors.
 */
export async function failedModule(url: string, cause: unknown): Promise<string | undefined> {
  // Two files may throw the same text, but not the same object.
  const isUnique = typeof cause === 'object' && cause !== null
  for (const [kept, { error, files }] of keptErrors)
    if (error === cause && (isUnique || imports(url, files, new Set()))) return kept
  if (!(await rejectsWith(url, cause))) return undefined
  const [failed, ...importers] = await findFailed(url, cause, new Set([url]))
  if (failed === undefined) return url
  keptErrors.set(failed, { error: cause, files: new Set([failed, ...importers, url]) })
  return failed
}

function imports(url: string, files: ReadonlySet<string>, visited: Set<string>): boolean {
  if (files.has(url)) return true
  if (visited.has(url)) return false
  visited.add(url)
  return importsOf.get(url)?.some((imported) => imports(imported, files, visited)) === true
}

/**
 * The file that threw and those that import it, up to `url`. In the order of evaluation, so that the search ends before a file that was
 * not evaluated yet.
 */
async function findFailed(url: string, cause: unknown, visited: Set<string>): Promise<readonly string[]> {
  for (const imported of importsOf.get(url) ?? []) {
    if (visited.has(imported)) continue
    visited.add(imported)
    const deeper = await findFailed(imported, cause, visited)
    if (deeper.length > 0) return [...deeper, imported]
    if (await rejectsWith(imported, cause)) return [imported]
  }
  return []
}

/** A file that was evaluated settles at once; one that still waits, in a top-level `await`, may never do so, and is not the cause. */
const maxPendingMs = 100

async function rejectsWith(url: string, cause: unknown): Promise<boolean> {
  const stop = new AbortController()
  const rejects = import(url).then(
    () => false,
    (error: unknown) => error === cause,
  )
  const pending = sleep(maxPendingMs, false, { signal: stop.signal }).catch(() => false)
  return Promise.race([rejects, pending]).finally(() => stop.abort())
}
