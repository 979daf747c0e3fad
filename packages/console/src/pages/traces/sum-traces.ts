/** Totals over several traces, for an id that belongs to more than one. Pure. */
import type { Trace } from '../../api/admin.ts'
import type { TimedTask } from '../../components/status/task-times.ts'

export type TraceSums = ReturnType<typeof sumTraces>

export function sumTraces(traces: readonly Trace[], now: number) {
  const sum = (of: (trace: Trace) => number): number => traces.reduce((all, trace) => all + of(trace), 0)
  const names = (of: (trace: Trace) => readonly string[]): readonly string[] => [...new Set(traces.flatMap(of))]
  const costs = traces.flatMap(({ cost }) => cost ?? [])
  const from = Math.min(...traces.map(({ startedAt }) => Date.parse(startedAt)))
  const to = Math.max(...traces.map(({ endedAt }) => (endedAt === undefined ? now : Date.parse(endedAt))))
  return {
    durationMs: traces.length === 0 ? 0 : Math.max(0, to - from),
    tasks: sum(({ tasks }) => tasks),
    turns: sum(({ turns }) => turns),
    errors: sum(({ errors }) => errors),
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    cost: costs.length === 0 ? undefined : costs.reduce((all, one) => all + one, 0),
    agents: names(({ agents }) => agents),
    models: names(({ models }) => models),
    tools: names(({ tools }) => tools),
  }
}

/** The duration of a trace; so far, if it is still running. */
export function traceDurationMs({ startedAt, endedAt }: Pick<Trace, 'startedAt' | 'endedAt'>, now: number): number {
  return Math.max(0, (endedAt === undefined ? now : Date.parse(endedAt)) - Date.parse(startedAt))
}

/** In milliseconds, over ended traces only: a trace that waits for an answer would make all others look short. */
/** With the numbers of its task, so that both show the same duration. */
export function timedTrace(trace: Trace): TimedTask {
  const { state, startedAt, endedAt, durationMs, waitingMs, statusAt = endedAt ?? startedAt } = trace
  return {
    state,
    createdAt: startedAt,
    statusAt,
    ...(durationMs !== undefined ? { durationMs } : {}),
    ...(waitingMs !== undefined ? { waitingMs } : {}),
  }
}

/** The longest working time of the ended ones. */
export function longestDurationMs(traces: readonly Pick<Trace, 'startedAt' | 'endedAt' | 'waitingMs'>[]): number {
  const ended = traces.filter(({ endedAt }) => endedAt !== undefined)
  return Math.max(1, ...ended.map((trace) => traceDurationMs(trace, 0) - (trace.waitingMs ?? 0)))
}

/** The length of its bar, from 0 to 1. A square-root scale, so that milliseconds and minutes are both visible. */
export function barShare(ms: number, longestMs: number): number {
  return Math.min(1, Math.sqrt(ms / longestMs))
}

/** The visited agents in order, with their hubs if there are several. */
export function delegationPathText(visited: readonly string[]): string {
  const places = visited.map((place) => {
    const at = place.lastIndexOf('#')
    return at < 0 ? { hub: '', agent: place } : { hub: place.slice(0, at), agent: place.slice(at + 1) }
  })
  const isFar = new Set(places.map(({ hub }) => hub)).size > 1
  return places.map(({ hub, agent }) => (isFar && hub !== '' ? `${agent} (${hub})` : agent)).join(' → ')
}
