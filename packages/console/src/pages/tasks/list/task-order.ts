/**
 * The order of the task list, held in the address. The hub sorts; the same order merges changes of the change feed into the loaded
 * pages.
 */
import type { Operations, TaskSummary } from '../../../api/admin.ts'
import { parseOption, setFilters, urlFilters, type FiltersOf } from '../../../components/filters/url-filters.ts'
import { taskTimes } from '../../../components/status/task-times.ts'

export type TaskSort = NonNullable<Operations['listTasks']['query']['sort']>
export type SortDirection = 'asc' | 'desc'

const directions: readonly (readonly [SortDirection])[] = [['asc'], ['desc']]
const sorts: readonly (readonly [TaskSort])[] = [['time'], ['duration'], ['agent'], ['state']]

/** Not among the filters: clearing those keeps the order. */
export const taskOrderParams = urlFilters({ sort: parseOption(sorts), order: parseOption(directions) })
type TaskOrderParams = FiltersOf<typeof taskOrderParams>

export interface TaskOrder {
  readonly sort: TaskSort
  readonly direction: SortDirection
}

const defaultDirections: Readonly<Record<TaskSort, SortDirection>> = {
  time: 'desc',
  duration: 'desc',
  agent: 'asc',
  state: 'asc',
}

export function readTaskOrder(query: URLSearchParams): TaskOrder {
  const { sort, order } = taskOrderParams.read(query)
  const by = sort === '' ? 'time' : sort
  return { sort: by, direction: order === '' ? defaultDirections[by] : order }
}

/** The parameters of the address for an order; those of the default are empty. */
export function taskOrderQuery({ sort, direction }: TaskOrder): TaskOrderParams {
  return { sort: sort === 'time' ? '' : sort, order: direction === defaultDirections[sort] ? '' : direction }
}

/** The parameters for the hub. */
export function taskOrderRequest(order: TaskOrder): { readonly sort?: TaskSort; readonly direction?: SortDirection } {
  const { sort, order: direction } = setFilters(taskOrderQuery(order))
  return { ...(sort !== undefined ? { sort } : {}), ...(direction !== undefined ? { direction } : {}) }
}

/** A press on the header of a column: sorts by it, or reverses the order. */
export function nextTaskOrder(order: TaskOrder, sort: TaskSort): TaskOrder {
  if (order.sort !== sort) return { sort, direction: defaultDirections[sort] }
  return { sort, direction: order.direction === 'asc' ? 'desc' : 'asc' }
}

export function isDefaultOrder({ sort, direction }: TaskOrder): boolean {
  return sort === 'time' && direction === 'desc'
}

/** As the hub orders states: what needs a person comes first. */
const stateOrder = [
  'INPUT_REQUIRED',
  'AUTH_REQUIRED',
  'WORKING',
  'SUBMITTED',
  'FAILED',
  'REJECTED',
  'CANCELED',
  'COMPLETED',
]

type TaskComparison = (one: TaskSummary, other: TaskSummary) => number

export function compareTasks({ sort, direction }: TaskOrder): TaskComparison {
  const sign = direction === 'asc' ? 1 : -1
  if (sort === 'time') return (one, other) => -sign * compareByStatusTime(one, other)
  const compare = comparisons[sort]
  return (one, other) => sign * compare(one, other) || compareByStatusTime(one, other)
}

const comparisons: Readonly<Record<Exclude<TaskSort, 'time'>, TaskComparison>> = {
  agent: (one, other) => one.agent.localeCompare(other.agent, 'en'),
  state: (one, other) => stateRank(one) - stateRank(other),
  duration: (one, other) => workingMs(one) - workingMs(other),
}

function stateRank({ state }: TaskSummary): number {
  return stateOrder.indexOf(state.replace('TASK_STATE_', ''))
}

function workingMs(task: TaskSummary): number {
  return taskTimes(task, Date.now()).workingMs
}

/** By status time, ties by id, both descending. */
function compareByStatusTime(one: TaskSummary, other: TaskSummary): number {
  if (one.statusAt !== other.statusAt) return one.statusAt < other.statusAt ? 1 : -1
  return one.id < other.id ? 1 : one.id > other.id ? -1 : 0
}
