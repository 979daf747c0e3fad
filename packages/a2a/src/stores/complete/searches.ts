/** Lists and searches of a log store. Those of callers read one page; those of the operator read all rows. */
import { isTerminal, taskStates } from '../../model/state.ts'
import type { LogStore } from '../log-store.ts'
import type { AgentCount, ListQuery, Partition, SearchQuery, StateCount, TaskRow, TaskStore } from '../task-store.ts'
import { encodeText } from '../text-encoding.ts'
import type { TaskTable } from './task-table.ts'

type Searches = Pick<
  TaskStore,
  'list' | 'context' | 'countActive' | 'countStates' | 'countUnfinished' | 'search' | 'agents' | 'findTasks'
>

export function createSearches(log: LogStore, table: TaskTable): Searches {
  return {
    async list({ contextId, state, statusAtOrAfter: since, before, limit, ...partition }: ListQuery) {
      const { rows, total } = await log.list({
        where: { ...columnsOf(partition, contextId), ...(state === undefined ? {} : { state }) },
        order: 'newest',
        ...(since === undefined ? {} : { since }),
        ...(before === undefined ? {} : { after: { statusAt: before.statusAt, id: encodeText(before.id) } }),
        limit: limit + 1,
      })
      return { tasks: rows.slice(0, limit).map((row) => table.stateOf(row).row), more: rows.length > limit, total }
    },
    async context(partition, contextId, limit) {
      const tasks: TaskRow[] = []
      const where = columnsOf(partition, contextId)
      for await (const { state } of table.scan({ where, order: 'newest' })) tasks.push(state.row)
      return tasks.sort(oldestFirst).slice(-limit)
    },
    async countActive(tenant, owner) {
      let active = 0
      for (const { row } of openTasks()) if (row.owner === owner && row.tenant === tenant) active += 1
      return active
    },
    async countStates() {
      const counts = await Promise.all(
        taskStates.map(async (state): Promise<StateCount> => {
          const { total } = await log.list({ where: { state }, order: 'newest', limit: 0 })
          return { state, tasks: total }
        }),
      )
      return counts.filter(({ tasks }) => tasks > 0)
    },
    async countUnfinished(ownerPrefix = '') {
      const counts = new Map<string, AgentCount>()
      for (const { row } of openTasks()) {
        const { agent } = row
        const { state } = row.status
        if (!row.owner.startsWith(ownerPrefix)) continue
        const key = JSON.stringify([agent, state])
        counts.set(key, { agent, state, tasks: (counts.get(key)?.tasks ?? 0) + 1 })
      }
      return [...counts.values()]
    },
    async search({
      agent,
      owner,
      contextId,
      states,
      from = -Infinity,
      until = Infinity,
      order = 'newest',
      before,
      limit,
    }: SearchQuery) {
      const where = columnsOf(
        { ...(agent === undefined ? {} : { agent }), ...(owner === undefined ? {} : { owner }) },
        contextId,
      )
      const after = before && { statusAt: before.statusAt, id: encodeText(before.id) }
      const tasks: TaskRow[] = []
      for await (const { state } of table.scan({ where, order, ...(after === undefined ? {} : { after }) })) {
        const { row } = state
        const isMatch = states?.includes(row.status.state) !== false && row.statusAt >= from && row.statusAt < until
        if (isMatch) tasks.push(row)
        if (tasks.length > limit) break
      }
      return { tasks: tasks.slice(0, limit), more: tasks.length > limit }
    },
    async agents() {
      const agents = new Set<string>()
      for await (const { state } of allTasks()) agents.add(state.row.agent)
      return [...agents]
    },
    async findTasks(idPrefix, limit) {
      const tasks: TaskRow[] = []
      for await (const { state } of allTasks()) if (state.row.id.startsWith(idPrefix)) tasks.push(state.row)
      return tasks.sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit)
    },
  }

  function allTasks() {
    return table.scan({ where: {}, order: 'newest' })
  }

  function* openTasks(): Generator<{ readonly row: TaskRow }> {
    for (const { state } of table.open.values()) if (!isTerminal(state.row.status.state)) yield state
  }
}

function columnsOf(names: Partial<Partition>, contextId: string | undefined): Record<string, string> {
  const columns = { ...names, ...(contextId === undefined ? {} : { contextId }) }
  return Object.fromEntries(Object.entries(columns).map(([column, name]) => [column, encodeText(name)]))
}

export function oldestFirst(a: TaskRow, b: TaskRow): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)
}
