/**
 * Tasks of all owners, by keyset on indexes that have the agent and the state before the time: as many ranges are merged as
 * there are agents and states, and of each is read what the page needs of it. Tasks that are at work are in a range for each
 * of their owners.
 */
import { isTerminal, taskStates } from '../../model/state.ts'
import type { AgentCount, SearchPage, SearchQuery, TaskRow } from '../store.ts'
import type { BlobTable } from './blob-table.ts'
import { stateNumber, stateOf } from './counters.ts'
import type { Database } from './database.ts'
import type { TaskColumns } from './rows.ts'
import { taskColumns, taskOf } from './rows.ts'

interface Place {
  readonly ref: number
  readonly status_at: number
  readonly id: string
}
type Position = Pick<Place, 'status_at' | 'id'>
interface Pair {
  readonly agent: string
  readonly state: number
}
interface Counted extends Pair {
  readonly tenant: string
  readonly owner: string
}
/** A part of an index, newest first: `next` answers what comes after a place. */
interface Range {
  next(after: Position, limit: number): Place[]
}

const endOfTime = Number.MAX_SAFE_INTEGER
const unfinished = taskStates.filter((state) => !isTerminal(state)).map(stateNumber)
const working = (['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'] as const).map(stateNumber)
/** As the index says it. */
const isIndexed = 'state NOT IN (1, 2)'

export type Search = ReturnType<typeof createSearch>

export function createSearch(database: Database, blobs: BlobTable) {
  const isNext = '(status_at, id) < (?, ?) AND status_at >= ? ORDER BY status_at DESC, id DESC LIMIT ?'
  const byRef = database.prepare<TaskColumns>(`SELECT ${taskColumns} FROM tasks WHERE ref = ?`)
  // Two statements: a comparison of both columns together reads everything that has the first one.
  const nextAgent = database.prepare<Pair>(
    `SELECT agent, state FROM tasks INDEXED BY tasks_search WHERE ${isIndexed} AND agent > ? ORDER BY agent, state LIMIT 1`,
  )
  const nextState = database.prepare<Pair>(
    `SELECT agent, state FROM tasks INDEXED BY tasks_search
     WHERE ${isIndexed} AND agent = ? AND state > ? ORDER BY state LIMIT 1`,
  )
  const inPair = database.prepare<Place>(
    `SELECT ref, status_at, id FROM tasks INDEXED BY tasks_search
     WHERE ${isIndexed} AND agent = ? AND state = ? AND ${isNext}`,
  )
  const unfinishedOnes = database.prepare<Pair & { tasks: number }>(
    `SELECT agent, state, tasks FROM counters WHERE tasks > 0 AND state IN (${unfinished.join(', ')})`,
  )
  const ofOwner = database.prepare<Counted>(
    'SELECT tenant, agent, owner, state FROM counters INDEXED BY counters_owner WHERE owner = ? AND tasks > 0',
  )
  const atWork = database.prepare<Counted>(
    `SELECT tenant, agent, owner, state FROM counters WHERE tasks > 0 AND state IN (${working.join(', ')})`,
  )
  const inPartition = database.prepare<Place>(
    `SELECT ref, status_at, id FROM tasks INDEXED BY tasks_list
     WHERE tenant = ? AND agent = ? AND owner = ? AND state = ? AND ${isNext}`,
  )
  const inContext = database.prepare<Place & Pair & { owner: string }>(
    `SELECT ref, status_at, id, agent, owner, state FROM tasks INDEXED BY tasks_context WHERE context_id = ? AND ${isNext}`,
  )
  const beginning = database.prepare<TaskColumns>(
    `SELECT ${taskColumns} FROM tasks WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT ?`,
  )

  /** Which agents have tasks in which states: a step of the index for each, however many tasks there are. */
  function pairs(wants: (pair: Pair) => boolean, only?: string): Pair[] {
    const found: Pair[] = []
    let pair = nextState.get(only ?? '', -1) ?? (only === undefined ? nextAgent.get('') : undefined)
    while (pair !== undefined) {
      if (wants(pair)) found.push(pair)
      pair = nextState.get(pair.agent, pair.state) ?? (only === undefined ? nextAgent.get(pair.agent) : undefined)
    }
    return found
  }

  function rangesOf({ agent, owner, states, from = -endOfTime }: SearchQuery): Range[] {
    const wanted = states && new Set(states.map(stateNumber))
    const wants = (pair: Pair): boolean =>
      (agent === undefined || pair.agent === agent) && wanted?.has(pair.state) !== false
    const ofPartition = (one: Counted): Range => ({
      next: (after, limit) =>
        inPartition.all(one.tenant, one.agent, one.owner, one.state, after.status_at, after.id, from, limit),
    })
    if (owner !== undefined) return ofOwner.all(owner).filter(wants).map(ofPartition)
    const settled = pairs(wants, agent).map((pair) => ({
      next: (after: Position, limit: number) =>
        inPair.all(pair.agent, pair.state, after.status_at, after.id, from, limit),
    }))
    return [...settled, ...atWork.all().filter(wants).map(ofPartition)]
  }

  /** All of one conversation, which may be of several agents and owners. */
  function contextPlaces(query: SearchQuery & { readonly contextId: string }, start: Place): Place[] {
    const { contextId, agent, owner, states, from = -endOfTime, limit } = query
    const found: Place[] = []
    for (const row of inContext.iterate(contextId, start.status_at, start.id, from, endOfTime)) {
      if (agent !== undefined && row.agent !== agent) continue
      if (owner !== undefined && row.owner !== owner) continue
      if (states !== undefined && !states.includes(stateOf(row.state))) continue
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
          ? merge(rangesOf(query), start, limit + 1)
          : contextPlaces({ ...query, contextId }, start)
      const tasks = places.slice(0, limit).map(({ ref }) => taskOf(byRef.get(ref) as TaskColumns, blobs))
      return { tasks, more: places.length > limit }
    },
    findTasks: (idPrefix: string, limit: number): readonly TaskRow[] =>
      beginning.all(idPrefix, afterAll(idPrefix), limit).map((row) => taskOf(row, blobs)),
    countUnfinished(): readonly AgentCount[] {
      const sums = new Map<string, AgentCount>()
      for (const { agent, state, tasks } of unfinishedOnes.all()) {
        const key = JSON.stringify([agent, state])
        sums.set(key, { agent, state: stateOf(state), tasks: (sums.get(key)?.tasks ?? 0) + tasks })
      }
      return [...sums.values()]
    },
  }
}

/** Before everything that is wanted: where the page before ended, or the end of the time that is asked for. */
function startOf({ before, until = endOfTime }: SearchQuery): Place {
  const isPage = before !== undefined && before.statusAt < until
  return { ref: 0, status_at: isPage ? before.statusAt : until, id: isPage ? before.id : '' }
}

/** The newest of all ranges. Each is read in pieces, and only as far as it has something to give. */
function merge(ranges: readonly Range[], start: Place, limit: number): Place[] {
  const piece = Math.max(4, Math.ceil((2 * limit) / Math.max(1, ranges.length)))
  const open = ranges.map((range) => ({ range, places: range.next(start, piece), at: 0 }))
  const found: Place[] = []
  while (found.length < limit) {
    let best: (typeof open)[number] | undefined
    for (const one of open) {
      const place = one.places[one.at]
      if (place === undefined) continue
      if (best === undefined || newestFirst(place, best.places[best.at] as Place) < 0) best = one
    }
    if (best === undefined) return found
    const place = best.places[best.at] as Place
    found.push(place)
    best.at += 1
    if (best.at < best.places.length || best.places.length < piece) continue
    best.places = best.range.next(place, piece)
    best.at = 0
  }
  return found
}

/** As SQLite compares texts: by their bytes, which for ids is by their characters. */
function newestFirst(a: Place, b: Place): number {
  return b.status_at - a.status_at || (a.id < b.id ? 1 : -1)
}

/** Greater than every id that begins so: no character is greater than the last one. */
function afterAll(prefix: string): string {
  return `${prefix}\u{10ffff}`
}
