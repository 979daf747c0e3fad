/** Where the views of the tasks are: links keep the filters of the list, so that closing a task leads back to what was listed. */
import { go, query, setQuery } from '../../app/router.ts'
import { filterNames } from './task-filters.ts'

export const taskTabs = ['conversation', 'events', 'wire', 'trace'] as const
export type TaskTab = (typeof taskTabs)[number]

export function tabIn(name: string | undefined): TaskTab {
  return taskTabs.find((tab) => tab === name) ?? 'conversation'
}

export function listHref(): string {
  return withQuery('/tasks', kept(filterNames))
}

/** Another task, in the same view. */
export function taskHref(id: string, tab: TaskTab = 'conversation'): string {
  return withQuery(pathOf(id, tab), kept([...filterNames, 'list']))
}

/** Another view of the same task: what is selected stays selected. */
export function tabHref(id: string, tab: TaskTab): string {
  return withQuery(pathOf(id, tab), query.value)
}

export function compareHref(id: string, other: string): string {
  return `/tasks/${encodeURIComponent(id)}/compare/${encodeURIComponent(other)}`
}

function pathOf(id: string, tab: TaskTab): string {
  return `/tasks/${encodeURIComponent(id)}${tab === 'conversation' ? '' : `/${tab}`}`
}

function kept(names: readonly string[]): URLSearchParams {
  return new URLSearchParams([...query.value].filter(([name]) => names.includes(name)))
}

function withQuery(path: string, search: URLSearchParams): string {
  return search.size === 0 ? path : `${path}?${search}`
}

/** The event that is selected, in all views of the task. */
export function selectedSeq(): number | undefined {
  const seq = Number(query.value.get('event') ?? Number.NaN)
  return Number.isInteger(seq) && seq >= 0 ? seq : undefined
}

export function selectEvent(seq: number | undefined): void {
  setQuery({ event: seq === undefined ? undefined : String(seq), span: undefined })
}

export function openTab(id: string, tab: TaskTab): void {
  go(tabHref(id, tab))
}
