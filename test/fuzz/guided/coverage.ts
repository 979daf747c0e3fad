/**
 * Which blocks of our code an input reaches, by V8's own counters. V8 reports only what ran since the last question, so a
 * question costs about 3 ms whatever is loaded, and the counters a tenth of the speed of most code: one question for a batch of
 * inputs is cheap. libFuzzer's bindings for Node (@jazzer.js) would be finer, but their binary needs a newer C library than many
 * systems have.
 */
import { Session } from 'node:inspector'
import type { Profiler } from 'node:inspector'

export interface Coverage {
  /** What was reached since the last call. */
  take(): ReachedBlocks
  stop(): void
}

export interface ReachedBlocks {
  readonly blocks: readonly Block[]
  /** V8 joins blocks with equal counts, so one that was reached need not be among `blocks`. */
  covers(block: Block): boolean
}

export interface Block {
  readonly key: string
  readonly url: string
  readonly from: number
  readonly to: number
}

const isOurs = (url: string): boolean => url.includes('/packages/') || url.includes('/planted-')

export function startCoverage(): Coverage {
  const session = new Session()
  session.connect()
  const ask = <T>(method: string, params: object = {}): T => {
    let answer: T | undefined
    // Called before `post` returns: the session is with this thread's own isolate.
    session.post(method, params, (error: Error | null, result?: unknown) => {
      if (error !== null) throw error
      answer = result as T
    })
    return answer as T
  }
  ask('Profiler.enable')
  ask('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  return {
    take() {
      const { result } = ask<Profiler.TakePreciseCoverageReturnType>('Profiler.takePreciseCoverage')
      return reachedIn(result.filter(({ url }) => isOurs(url)))
    },
    stop: () => session.disconnect(),
  }
}

function reachedIn(scripts: readonly Profiler.ScriptCoverage[]): ReachedBlocks {
  const blocks: Block[] = []
  for (const { url, functions } of scripts)
    for (const { ranges } of functions)
      for (const { startOffset: from, endOffset: to, count } of ranges)
        if (count > 0) blocks.push({ key: `${url}:${from}:${to}`, url, from, to })
  return {
    blocks,
    covers({ url, from, to }) {
      const ranges = scripts
        .filter((script) => script.url === url)
        .flatMap(({ functions }) => functions.flatMap((one) => one.ranges))
      const around = ranges.filter(({ startOffset, endOffset }) => startOffset <= from && endOffset >= to)
      const inner = around.reduce<Profiler.CoverageRange | undefined>(
        (best, range) => (best === undefined || sizeOf(range) <= sizeOf(best) ? range : best),
        undefined,
      )
      return (inner?.count ?? 0) > 0
    },
  }
}

function sizeOf({ startOffset, endOffset }: Profiler.CoverageRange): number {
  return endOffset - startOffset
}
