/** The filters of the task list: read from the address, sent to the hub, and matched against changes of the change feed. */
import type { Operations, TaskSummary } from '../../../api/admin.ts'
import { timePresets, timeRange } from '../../../components/filters/time-presets.ts'
import {
  parseInstant,
  parseOption,
  parseText,
  setFilters,
  urlFilters,
} from '../../../components/filters/url-filters.ts'
import type { FiltersOf } from '../../../components/filters/url-filters.ts'

type TaskQuery = Operations['listTasks']['query']

export const taskFilters = urlFilters({
  agent: String,
  state: (param) => param.split(',').filter((state) => /^TASK_STATE_[A-Z_]+$/.test(state)),
  caller: String,
  context: String,
  /** `top`: without tasks that an agent delegated. */
  level: (param) => (param === 'top' ? param : ''),
  time: parseOption(timePresets),
  /** Start of a custom range, as ISO 8601; otherwise empty. */
  since: parseInstant,
  until: parseInstant,
  text: parseText,
})
export type TaskFilters = FiltersOf<typeof taskFilters>

/** The query to the hub. "The last hour" is relative to `now`. */
export function taskListQuery({ time, since, until, ...rest }: TaskFilters, now: number): TaskQuery {
  return { ...setFilters(rest), ...timeRange({ time, since, until }, now) } as TaskQuery
}

/**
 * Whether a changed task belongs to the list. A search text may match content that the page does not have; then only the hub
 * knows.
 */
export function matchTaskFilters(filters: TaskFilters, task: TaskSummary, now: number): 'yes' | 'no' | 'ask' {
  const { agent, state, caller, context, level, text } = filters
  const { since, until } = timeRange(filters, now)
  const at = Date.parse(task.statusAt)
  const isOut =
    (agent !== '' && task.agent !== agent) ||
    (state.length > 0 && !state.includes(task.state)) ||
    (caller !== '' && task.caller !== caller) ||
    (level === 'top' && task.caller.startsWith('agent:')) ||
    (context !== '' && task.contextId !== context) ||
    (since !== undefined && at < Date.parse(since)) ||
    (until !== undefined && at >= Date.parse(until))
  if (isOut) return 'no'
  if (text === '') return 'yes'
  const searched = [task.title, task.statusText, task.id, task.contextId, task.caller, task.agent]
  return searched.some((one) => one?.toLowerCase().includes(text.toLowerCase()) === true) ? 'yes' : 'ask'
}
