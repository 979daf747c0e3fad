/** Which tasks are shown, as the address says it: read from there, asked of the hub, and held against what the stream brings. */
import type { Operations, TaskSummary } from '../../api/admin.ts'
import { spanMs, timeSpans } from '../../parts/time-spans.ts'
import type { TimeSpan } from '../../parts/time-spans.ts'

type TaskQuery = Operations['listTasks']['query']

export interface TaskFilters {
  readonly agent: string
  readonly states: readonly string[]
  readonly caller: string
  readonly context: string
  readonly time: TimeSpan
  /** Of a span of one's own, as ISO 8601; else empty. */
  readonly since: string
  readonly until: string
  readonly text: string
}

/** By which they stand in the address. */
export const filterNames = ['agent', 'state', 'caller', 'context', 'time', 'since', 'until', 'text'] as const

export function filtersIn(query: URLSearchParams): TaskFilters {
  const said = (name: string): string => query.get(name) ?? ''
  const since = instantIn(said('since'))
  const until = instantIn(said('until'))
  const time = timeSpans.find(([span]) => span === said('time'))?.[0] ?? ''
  return {
    agent: said('agent'),
    states: said('state')
      .split(',')
      .filter((state) => /^TASK_STATE_[A-Z_]+$/.test(state)),
    caller: said('caller'),
    context: said('context'),
    time: since !== '' || until !== '' ? 'custom' : time,
    since,
    until,
    text: said('text').trim(),
  }
}

/** What stands in the address may be anything; what is no time is none. */
function instantIn(text: string): string {
  const at = new Date(text)
  return text === '' || Number.isNaN(at.getTime()) ? '' : at.toISOString()
}

export function isFiltered({ agent, states, caller, context, time, text }: TaskFilters): boolean {
  return agent !== '' || states.length > 0 || caller !== '' || context !== '' || time !== '' || text !== ''
}

/** As the hub is asked. "The last hour" is that before `now`. */
export function askFor(filters: TaskFilters, now: number): TaskQuery {
  const { agent, states, caller, context, text } = filters
  const { from, until } = boundsOf(filters, now)
  return {
    ...(agent !== '' ? { agent } : {}),
    ...(states.length > 0 ? { state: states as NonNullable<TaskQuery['state']> } : {}),
    ...(caller !== '' ? { caller } : {}),
    ...(context !== '' ? { context } : {}),
    ...(from !== undefined ? { since: new Date(from).toISOString() } : {}),
    ...(until !== undefined ? { until: new Date(until).toISOString() } : {}),
    ...(text !== '' ? { text } : {}),
  }
}

function boundsOf({ time, since, until }: TaskFilters, now: number): { from?: number; until?: number } {
  const span = spanMs[time]
  if (span !== undefined) return { from: now - span }
  return {
    ...(since !== '' ? { from: Date.parse(since) } : {}),
    ...(until !== '' ? { until: Date.parse(until) } : {}),
  }
}

/** Whether a task that the stream told belongs to the list. A text may stand where we cannot see it: only the hub knows. */
export function fits(filters: TaskFilters, task: TaskSummary, now: number): 'yes' | 'no' | 'ask' {
  const { agent, states, caller, context, text } = filters
  const { from, until } = boundsOf(filters, now)
  const at = Date.parse(task.statusAt)
  const isOut =
    (agent !== '' && task.agent !== agent) ||
    (states.length > 0 && !states.includes(task.state)) ||
    (caller !== '' && task.caller !== caller) ||
    (context !== '' && task.contextId !== context) ||
    (from !== undefined && at < from) ||
    (until !== undefined && at >= until)
  if (isOut) return 'no'
  if (text === '') return 'yes'
  const said = [task.title, task.statusText, task.id, task.contextId, task.caller, task.agent]
  return said.some((one) => one?.toLowerCase().includes(text.toLowerCase()) === true) ? 'yes' : 'ask'
}
