/** Lists of the memory store. They sort the tasks of one caller; the limit of the store keeps them few. */
import type { ListPage, ListQuery, Partition, TaskRow } from '../store.ts'
import type { MemoryTable } from './table.ts'

export function listMemoryTasks(table: MemoryTable, query: ListQuery): ListPage {
  const { contextId, state, statusAtOrAfter, before, limit } = query
  const matching: TaskRow[] = []
  for (const { row } of table.group(query)?.entries ?? []) {
    if (contextId !== undefined && row.contextId !== contextId) continue
    if (state !== undefined && row.status.state !== state) continue
    if (statusAtOrAfter !== undefined && row.statusAt < statusAtOrAfter) continue
    matching.push(row)
  }
  const rest = before === undefined ? [...matching] : matching.filter((row) => newestFirst(before, row) < 0)
  rest.sort(newestFirst)
  return { tasks: rest.slice(0, limit), more: rest.length > limit, total: matching.length }
}

export function tasksOfContext(
  table: MemoryTable,
  { tenant, agent, owner }: Partition,
  contextId: string,
  limit: number,
) {
  const rows: TaskRow[] = []
  for (const { row } of table.inContext(contextId)) {
    if (row.tenant === tenant && row.agent === agent && row.owner === owner) rows.push(row)
  }
  return rows.sort(oldestFirst).slice(-limit)
}

export function oldestFirst(a: TaskRow, b: TaskRow): number {
  return a.createdAt - b.createdAt || compare(a.id, b.id)
}

export function oldestStatusFirst(a: TaskRow, b: TaskRow): number {
  return newestFirst(b, a)
}

export function newestFirst(a: Pick<TaskRow, 'statusAt' | 'id'>, b: Pick<TaskRow, 'statusAt' | 'id'>): number {
  return b.statusAt - a.statusAt || compare(b.id, a.id)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
