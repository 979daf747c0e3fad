/** Lists of the memory store. They sort the tasks of one caller; the limit of the store keeps them few. */
import { isTerminal } from '../../model/state.ts'
import type {
  AgentCount,
  ListPage,
  ListQuery,
  Partition,
  PushPage,
  PushQuery,
  SearchPage,
  SearchQuery,
  TaskRow,
} from '../store.ts'
import type { MemoryTable, TaskEntry } from './table.ts'

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

export function oldestStatusFirst(a: Pick<TaskRow, 'statusAt' | 'id'>, b: Pick<TaskRow, 'statusAt' | 'id'>): number {
  return newestFirst(b, a)
}

export function newestFirst(a: Pick<TaskRow, 'statusAt' | 'id'>, b: Pick<TaskRow, 'statusAt' | 'id'>): number {
  return b.statusAt - a.statusAt || compare(b.id, a.id)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

// Operator searches of the memory store. They scan all tasks; the limit of the store keeps them few.

export function searchTasks(table: MemoryTable, query: SearchQuery): SearchPage {
  const { agent, owner, contextId, states, from = -Infinity, until = Infinity, order, before, limit } = query
  const inOrder = order === 'oldest' ? oldestStatusFirst : newestFirst
  const found: TaskRow[] = []
  for (const { row } of contextId === undefined ? table.all() : table.inContext(contextId)) {
    if (agent !== undefined && row.agent !== agent) continue
    if (owner !== undefined && row.owner !== owner) continue
    if (states !== undefined && !states.includes(row.status.state)) continue
    if (row.statusAt < from || row.statusAt >= until) continue
    if (before === undefined || inOrder(before, row) < 0) found.push(row)
  }
  found.sort(inOrder)
  return { tasks: found.slice(0, limit), more: found.length > limit }
}

export function agentsWithTasks(table: MemoryTable): readonly string[] {
  return [...new Set([...table.all()].map(({ row }) => row.agent))]
}

export function tasksWithIdPrefix(table: MemoryTable, idPrefix: string, limit: number): readonly TaskRow[] {
  const found: TaskRow[] = []
  for (const { row } of table.all()) if (row.id.startsWith(idPrefix)) found.push(row)
  return found.sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit)
}

export function countUnfinished(entries: Iterable<TaskEntry>, ownerPrefix = ''): readonly AgentCount[] {
  const counts = new Map<string, AgentCount>()
  for (const { row } of entries) {
    const { agent } = row
    const { state } = row.status
    if (isTerminal(state) || !row.owner.startsWith(ownerPrefix)) continue
    const key = JSON.stringify([agent, state])
    counts.set(key, { agent, state, tasks: (counts.get(key)?.tasks ?? 0) + 1 })
  }
  return [...counts.values()]
}

/** Positions follow the order of creation: no entry is ever removed from the middle of a page. */
export function searchPushes(table: MemoryTable, { state, before = Infinity, limit }: PushQuery): PushPage {
  const found = [...table.all()]
    .flatMap(({ pushes }) => [...pushes.values()])
    .filter(({ row, place }) => place < before && (state === undefined || row.state === state))
    .sort((a, b) => b.place - a.place)
  const last = found.length > limit ? found[limit - 1] : undefined
  return {
    pushes: found.slice(0, limit).map(({ row }) => row),
    ...(last !== undefined ? { before: last.place } : {}),
  }
}
