/** The columns of the task table: which exist, which the user has chosen (per browser), and which fit the width. */
import { signal } from '@preact/signals'
import { readPreference, savePreference } from '../../../app/preferences.ts'
import type { TaskSort } from './task-order.ts'

export type TaskColumnName =
  | 'state'
  | 'agent'
  | 'task'
  | 'result'
  | 'caller'
  | 'duration'
  | 'updated'
  | 'created'
  | 'events'
  | 'context'

export interface TaskColumn {
  readonly name: TaskColumnName
  readonly title: string
  /** The order that its header offers. The hub offers only orders that are cheap for any number of tasks. */
  readonly sort?: TaskSort
  readonly width: string
  readonly minPx: number
  /** Columns with the lowest number stay longest when there is little space. */
  readonly rank: number
  readonly isOptional: boolean
  readonly isNumber?: boolean
}

export const taskColumns: readonly TaskColumn[] = [
  { name: 'state', title: 'State', sort: 'state', width: '118px', minPx: 118, rank: 0, isOptional: true },
  { name: 'agent', title: 'Agent', sort: 'agent', width: 'minmax(80px, 0.6fr)', minPx: 80, rank: 2, isOptional: true },
  { name: 'task', title: 'Task', width: 'minmax(140px, 1.4fr)', minPx: 140, rank: 0, isOptional: false },
  { name: 'result', title: 'Result', width: 'minmax(140px, 1.7fr)', minPx: 140, rank: 4, isOptional: true },
  { name: 'caller', title: 'Caller', width: 'minmax(72px, 0.6fr)', minPx: 72, rank: 5, isOptional: true },
  { name: 'context', title: 'Context', width: '116px', minPx: 116, rank: 8, isOptional: true },
  { name: 'events', title: 'Events', width: '64px', minPx: 64, rank: 7, isOptional: true, isNumber: true },
  {
    name: 'duration',
    title: 'Duration',
    sort: 'duration',
    width: '116px',
    minPx: 116,
    rank: 3,
    isOptional: true,
    isNumber: true,
  },
  { name: 'created', title: 'Created', width: '88px', minPx: 88, rank: 6, isOptional: true, isNumber: true },
  {
    name: 'updated',
    title: 'Updated',
    sort: 'time',
    width: '88px',
    minPx: 88,
    rank: 1,
    isOptional: true,
    isNumber: true,
  },
]

const hiddenByDefault: readonly TaskColumnName[] = ['context', 'events', 'created']
const preference = 'tasks.columns'

function readHidden(): readonly TaskColumnName[] {
  const stored = readPreference(preference)
  if (stored === undefined) return hiddenByDefault
  const names = stored.split(',')
  return taskColumns.filter(({ name, isOptional }) => isOptional && names.includes(name)).map(({ name }) => name)
}

export const hiddenColumns = signal<readonly TaskColumnName[]>(readHidden())

export function showColumn(name: TaskColumnName, isShown: boolean): void {
  const others = hiddenColumns.value.filter((one) => one !== name)
  hiddenColumns.value = isShown ? others : [...others, name]
  savePreference(preference, hiddenColumns.value.join(','))
}

/** The gap between two columns, and the space at both ends, as in the style sheet. */
const gapPx = 12
const paddingPx = 32

/** The chosen columns that fit; the task itself always does. */
export function visibleColumns(hidden: readonly TaskColumnName[], widthPx: number): readonly TaskColumn[] {
  const chosen = taskColumns.filter(({ name }) => !hidden.includes(name))
  const byRank = chosen.toSorted((one, other) => one.rank - other.rank)
  let usedPx = paddingPx
  const fitting = new Set<TaskColumnName>(['task'])
  for (const { name, minPx } of byRank) {
    usedPx += minPx + gapPx
    if (usedPx > widthPx) break
    fitting.add(name)
  }
  return chosen.filter(({ name }) => fitting.has(name))
}
