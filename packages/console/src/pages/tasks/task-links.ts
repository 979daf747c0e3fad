/** Links to the task views. They keep the filters and the order of the list, so that closing a task returns to the same list. */
import type { TaskSummary } from '../../api/admin.ts'
import { navigate, query, setQuery } from '../../app/router.ts'
import { taskFilters } from './list/task-filters.ts'
import { taskOrderParams } from './list/task-order.ts'

export const taskTabs = ['conversation', 'events', 'protocol', 'trace'] as const
export type TaskTab = (typeof taskTabs)[number]

export function parseTaskTab(name: string | undefined): TaskTab {
  return taskTabs.find((tab) => tab === name) ?? 'conversation'
}

export function listHref(): string {
  return taskFilters.link('/tasks', query.value, taskOrderParams.read(query.value))
}

/** Another task, in the same view. */
export function taskHref(id: string, tab: TaskTab = 'conversation'): string {
  const kept = { ...taskOrderParams.read(query.value), list: query.value.get('list') ?? '' }
  return taskFilters.link(taskPath(id, tab), query.value, kept)
}

/** Another view of the same task; the selection is kept. */
export function tabHref(id: string, tab: TaskTab): string {
  return appendQuery(taskPath(id, tab), query.value)
}

export function compareHref(id: string, other: string): string {
  return `/tasks/${encodeURIComponent(id)}/compare/${encodeURIComponent(other)}`
}

function taskPath(id: string, tab: TaskTab): string {
  return `/tasks/${encodeURIComponent(id)}${tab === 'conversation' ? '' : `/${tab}`}`
}

function appendQuery(path: string, search: URLSearchParams): string {
  return search.size === 0 ? path : `${path}?${search}`
}

/** The seq of the selected event, shared by all views of the task. */
export function selectedSeq(): number | undefined {
  const seq = Number(query.value.get('event') ?? Number.NaN)
  return Number.isInteger(seq) && seq >= 0 ? seq : undefined
}

export function selectEvent(seq: number | undefined): void {
  setQuery({ event: seq === undefined ? undefined : String(seq), span: undefined })
}

export function openTab(id: string, tab: TaskTab): void {
  navigate(tabHref(id, tab))
}

export function taskPlaygroundHref({ agent, contextId, id }: Pick<TaskSummary, 'agent' | 'contextId' | 'id'>): string {
  return `/playground/${encodeURIComponent(agent)}?${new URLSearchParams({ context: contextId, task: id })}`
}
