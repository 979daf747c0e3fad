/**
 * Runs in the measured process: answers each message of the parent process with the functions of our packages that ran since the
 * last one, by V8's own counters.
 */
import { Session } from 'node:inspector/promises'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export type ChildMessage = { readonly url: string } | { readonly functions: readonly TouchedFunction[] }

export interface TouchedFunction {
  /** From `packages/`. */
  readonly file: string
  /** Where it begins in the file. */
  readonly offset: number
}

/** Timers of at least this long belong to periodic work and to timeouts, not to a request. */
const longTimerMs = 50
/** The longest that Node supports. */
const neverMs = 2 ** 31 - 1

const packages = new URL('../../packages/', import.meta.url)

/** Call it before the measured code is loaded: V8 keeps counters only of functions that it compiles from then on. */
export async function startCounting(): Promise<void> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  // Blocks are not counted.
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  process.once('message', postponeLongTimers)
  process.on('message', () => {
    void session.post('Profiler.takePreciseCoverage').then(({ result }) => {
      const touched = result.flatMap(({ url, functions }) =>
        sourceFile(url).flatMap((file) =>
          functions
            .filter(({ ranges }) => ranges.some(({ count }) => count > 0))
            .map(({ ranges }) => ({ file, offset: ranges[0]?.startOffset ?? 0 })),
        ),
      )
      send({ functions: touched })
    })
  })
  // The parent has ended, in whatever way.
  process.once('disconnect', () => process.exit())
}

/** Else a slow machine would count what a timer runs beside the request. */
function postponeLongTimers(): void {
  const { setTimeout: start } = globalThis
  const postponed = (act: () => void, ms = 0) => start(act, ms < longTimerMs ? ms : neverMs)
  globalThis.setTimeout = Object.assign(postponed, start)
}

export function send(message: ChildMessage): void {
  process.send?.(message)
}

function sourceFile(url: string): readonly string[] {
  if (!url.startsWith(packages.href)) return []
  const file = relative(fileURLToPath(packages), fileURLToPath(url))
  return /^[^/]+\/src\//.test(file) ? [file] : []
}
