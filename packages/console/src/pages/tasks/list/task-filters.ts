/** The filters of the task list: read from the address, sent to the hub, and matched against changes of the change feed. */
import type { Operations, TaskSummary } from '../../../api/admin.ts'
import { timePresetMs, timePresets } from '../../../components/filters/time-presets.ts'
import type { TimePreset } from '../../../components/filters/time-presets.ts'

type TaskQuery = Operations['listTasks']['query']

export interface TaskFilters {
  readonly agent: string
  readonly states: readonly string[]
  readonly caller: string
  readonly context: string
  readonly time: TimePreset
  /** Start of a custom range, as ISO 8601; otherwise empty. */
  readonly since: string
  readonly until: string
  readonly text: string
}

/** Their names in the address. */
export const taskFilterNames = ['agent', 'state', 'caller', 'context', 'time', 'since', 'until', 'text'] as const

export function taskFiltersFromQuery(query: URLSearchParams): TaskFilters {
  const param = (name: string): string => query.get(name) ?? ''
  const since = parseInstant(param('since'))
  const until = parseInstant(param('until'))
  const time = timePresets.find(([span]) => span === param('time'))?.[0] ?? ''
  return {
    agent: param('agent'),
    states: param('state')
      .split(',')
      .filter((state) => /^TASK_STATE_[A-Z_]+$/.test(state)),
    caller: param('caller'),
    context: param('context'),
    time: since !== '' || until !== '' ? 'custom' : time,
    since,
    until,
    text: param('text').trim(),
  }
}

/** The address may hold any text; an invalid time is ignored. */
function parseInstant(text: string): string {
  const at = new Date(text)
  return text === '' || Number.isNaN(at.getTime()) ? '' : at.toISOString()
}

export function hasTaskFilters({ agent, states, caller, context, time, text }: TaskFilters): boolean {
  return agent !== '' || states.length > 0 || caller !== '' || context !== '' || time !== '' || text !== ''
}

/** The query to the hub. "The last hour" is relative to `now`. */
export function taskListQuery(filters: TaskFilters, now: number): TaskQuery {
  const { agent, states, caller, context, text } = filters
  const { from, until } = timeBounds(filters, now)
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

function timeBounds({ time, since, until }: TaskFilters, now: number): { from?: number; until?: number } {
  const span = timePresetMs[time]
  if (span !== undefined) return { from: now - span }
  return {
    ...(since !== '' ? { from: Date.parse(since) } : {}),
    ...(until !== '' ? { until: Date.parse(until) } : {}),
  }
}

/**
 * Whether a changed task belongs to the list. A search text may match content that the page does not have; then only the hub
 * knows.
 */
export function matchTaskFilters(filters: TaskFilters, task: TaskSummary, now: number): 'yes' | 'no' | 'ask' {
  const { agent, states, caller, context, text } = filters
  const { from, until } = timeBounds(filters, now)
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
  const param = [task.title, task.statusText, task.id, task.contextId, task.caller, task.agent]
  return param.some((one) => one?.toLowerCase().includes(text.toLowerCase()) === true) ? 'yes' : 'ask'
}
