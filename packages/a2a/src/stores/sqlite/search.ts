/**
 * Tasks of all owners, by keyset on indexes that have the agent and the state before the time. One range per agent and state is
 * merged, and each is read only as far as the page needs. Running tasks have one range per owner.
 */
import { isTerminal, taskStateNumber, taskStates } from '../../model/state.ts'
import type { AgentCount, SearchPage, SearchQuery, TaskRow } from '../store.ts'
import type { BlobTable } from './blob-table.ts'
import { taskStateOfNumber } from './counters.ts'
import type { SqliteDatabase } from './database.ts'
import { type SqliteTaskColumns, sqliteTaskColumns, readSqliteTask } from './rows.ts'

interface TaskPosition {
  readonly ref: number
  readonly status_at: number
  readonly id: string
}
type SearchPosition = Pick<TaskPosition, 'status_at' | 'id'>
type SearchOrder = NonNullable<SearchQuery['order']>
interface AgentState {
  readonly agent: string
  readonly state: number
}
interface CounterRow extends AgentState {
  readonly tenant: string
  readonly owner: string
}
/** A part of an index: `next` returns what comes after a position, in the order of the search. */
interface Range {
  next(after: SearchPosition, limit: number): TaskPosition[]
}

const endOfTime = Number.MAX_SAFE_INTEGER
const unfinished = taskStates.filter((state) => !isTerminal(state)).map(taskStateNumber)
const working = (['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'] as const).map(taskStateNumber)
/** The condition of the partial index. */
const isIndexed = 'state NOT IN (1, 2)'

export type SqliteTaskSearch = ReturnType<typeof createSqliteTaskSearch>

export function createSqliteTaskSearch(database: SqliteDatabase, blobs: BlobTable) {
  const byRef = database.prepare<SqliteTaskColumns>(`SELECT ${sqliteTaskColumns} FROM tasks WHERE ref = ?`)
  // Two statements: a row comparison of both columns reads everything with the same first column.
  const nextAgent = database.prepare<AgentState>(
    `SELECT agent, state FROM tasks INDEXED BY tasks_search WHERE ${isIndexed} AND agent > ? ORDER BY agent, state LIMIT 1`,
  )
  const nextState = database.prepare<AgentState>(
    `SELECT agent, state FROM tasks INDEXED BY tasks_search
     WHERE ${isIndexed} AND agent = ? AND state > ? ORDER BY state LIMIT 1`,
  )
  const unfinishedOnes = database.prepare<AgentState & { tasks: number }>(
    `SELECT agent, state, tasks FROM counters
     WHERE tasks > 0 AND state IN (${unfinished.join(', ')}) AND substr(owner, 1, length(?1)) = ?1`,
  )
  const ofOwner = database.prepare<CounterRow>(
    'SELECT tenant, agent, owner, state FROM counters INDEXED BY counters_owner WHERE owner = ? AND tasks > 0',
  )
  const atWork = database.prepare<CounterRow>(
    `SELECT tenant, agent, owner, state FROM counters WHERE tasks > 0 AND state IN (${working.join(', ')})`,
  )
  /** The index is read in both directions; the last limit of time is the other end of the requested time. */
  const inOrder = (isNext: string) => ({
    inPair: database.prepare<TaskPosition>(
      `SELECT ref, status_at, id FROM tasks INDEXED BY tasks_search
       WHERE ${isIndexed} AND agent = ? AND state = ? AND ${isNext}`,
    ),
    inPartition: database.prepare<TaskPosition>(
      `SELECT ref, status_at, id FROM tasks INDEXED BY tasks_list
       WHERE tenant = ? AND agent = ? AND owner = ? AND state = ? AND ${isNext}`,
    ),
    inContext: database.prepare<TaskPosition & AgentState & { owner: string }>(
      `SELECT ref, status_at, id, agent, owner, state FROM tasks INDEXED BY tasks_context WHERE context_id = ? AND ${isNext}`,
    ),
  })
  const statements: Readonly<Record<SearchOrder, ReturnType<typeof inOrder>>> = {
    newest: inOrder('(status_at, id) < (?, ?) AND status_at >= ? ORDER BY status_at DESC, id DESC LIMIT ?'),
    oldest: inOrder('(status_at, id) > (?, ?) AND status_at < ? ORDER BY status_at, id LIMIT ?'),
  }
  const beginning = database.prepare<SqliteTaskColumns>(
    `SELECT ${sqliteTaskColumns} FROM tasks WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT ?`,
  )

  /** The agents and states that have tasks: one step of the index for each, whatever the number of tasks. */
  function pairs(wants: (pair: AgentState) => boolean, only?: string): AgentState[] {
    const found: AgentState[] = []
    let pair = nextState.get(only ?? '', -1) ?? (only === undefined ? nextAgent.get('') : undefined)
    while (pair !== undefined) {
      if (wants(pair)) found.push(pair)
      pair = nextState.get(pair.agent, pair.state) ?? (only === undefined ? nextAgent.get(pair.agent) : undefined)
    }
    return found
  }

  function rangesOf(query: SearchQuery): Range[] {
    const { agent, owner, states, order = 'newest' } = query
    const { inPair, inPartition } = statements[order]
    const limitOfTime = lastTime(query)
    const wanted = states && new Set(states.map(taskStateNumber))
    const wants = (pair: AgentState): boolean =>
      (agent === undefined || pair.agent === agent) && wanted?.has(pair.state) !== false
    const ofPartition = (one: CounterRow): Range => ({
      next: (after, limit) =>
        inPartition.all(one.tenant, one.agent, one.owner, one.state, after.status_at, after.id, limitOfTime, limit),
    })
    if (owner !== undefined) return ofOwner.all(owner).filter(wants).map(ofPartition)
    const settled = pairs(wants, agent).map((pair) => ({
      next: (after: SearchPosition, limit: number) =>
        inPair.all(pair.agent, pair.state, after.status_at, after.id, limitOfTime, limit),
    }))
    return [...settled, ...atWork.all().filter(wants).map(ofPartition)]
  }

  /** All tasks of one context, which may belong to several agents and owners. */
  function contextPlaces(query: SearchQuery & { readonly contextId: string }, start: TaskPosition): TaskPosition[] {
    const { contextId, agent, owner, states, order = 'newest', limit } = query
    const { inContext } = statements[order]
    const found: TaskPosition[] = []
    for (const row of inContext.iterate(contextId, start.status_at, start.id, lastTime(query), endOfTime)) {
      if (agent !== undefined && row.agent !== agent) continue
      if (owner !== undefined && row.owner !== owner) continue
      if (states !== undefined && !states.includes(taskStateOfNumber(row.state))) continue
      if (found.push(row) > limit) break
    }
    return found
  }

  return {
    search(query: SearchQuery): SearchPage {
      const { contextId, limit } = query
      const start = startOf(query)
      const places =
        contextId === undefined
          ? merge(rangesOf(query), start, limit + 1, query.order === 'oldest' ? oldestFirst : newestFirst)
          : contextPlaces({ ...query, contextId }, start)
      const tasks = places.slice(0, limit).map(({ ref }) => readSqliteTask(byRef.get(ref) as SqliteTaskColumns, blobs))
      return { tasks, more: places.length > limit }
    },
    agents: (): readonly string[] => [...new Set([...pairs(() => true), ...atWork.all()].map(({ agent }) => agent))],
    findTasks: (idPrefix: string, limit: number): readonly TaskRow[] =>
      beginning.all(idPrefix, prefixEnd(idPrefix), limit).map((row) => readSqliteTask(row, blobs)),
    countUnfinished(ownerPrefix = ''): readonly AgentCount[] {
      const sums = new Map<string, AgentCount>()
      for (const { agent, state, tasks } of unfinishedOnes.all(ownerPrefix)) {
        const key = JSON.stringify([agent, state])
        sums.set(key, { agent, state: taskStateOfNumber(state), tasks: (sums.get(key)?.tasks ?? 0) + tasks })
      }
      return [...sums.values()]
    },
  }
}

/** The position before all wanted tasks: the end of the previous page, or the nearer end of the requested time. */
function startOf({ before, from = -endOfTime, until = endOfTime, order }: SearchQuery): TaskPosition {
  if (order === 'oldest') {
    // No id is less than the empty one: it comes before all tasks of that time.
    const isPage = before !== undefined && before.statusAt >= from
    return { ref: 0, status_at: isPage ? before.statusAt : from, id: isPage ? before.id : '' }
  }
  const isPage = before !== undefined && before.statusAt < until
  return { ref: 0, status_at: isPage ? before.statusAt : until, id: isPage ? before.id : '' }
}

/** The far end of the requested time. */
function lastTime({ from = -endOfTime, until = endOfTime, order }: SearchQuery): number {
  return order === 'oldest' ? until : from
}

/** The first tasks of all ranges, in order. Each range is read in pieces, and only as far as needed. */
function merge(
  ranges: readonly Range[],
  start: TaskPosition,
  limit: number,
  compare: (a: TaskPosition, b: TaskPosition) => number,
): TaskPosition[] {
  const piece = Math.max(4, Math.ceil((2 * limit) / Math.max(1, ranges.length)))
  const open = ranges.map((range) => ({ range, places: range.next(start, piece), at: 0 }))
  const found: TaskPosition[] = []
  while (found.length < limit) {
    let best: (typeof open)[number] | undefined
    for (const one of open) {
      const place = one.places[one.at]
      if (place === undefined) continue
      if (best === undefined || compare(place, best.places[best.at] as TaskPosition) < 0) best = one
    }
    if (best === undefined) return found
    const place = best.places[best.at] as TaskPosition
    found.push(place)
    best.at += 1
    if (best.at < best.places.length || best.places.length < piece) continue
    best.places = best.range.next(place, piece)
    best.at = 0
  }
  return found
}

/** As SQLite compares texts: by their bytes, which for ids equals the order of their characters. */
function newestFirst(a: TaskPosition, b: TaskPosition): number {
  return b.status_at - a.status_at || (a.id < b.id ? 1 : -1)
}

function oldestFirst(a: TaskPosition, b: TaskPosition): number {
  return newestFirst(b, a)
}

/** Greater than every id with this prefix: no character is greater than this last one. */
function prefixEnd(prefix: string): string {
  return `${prefix}\u{10ffff}`
}
