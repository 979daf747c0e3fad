/** The order of the list of agents, as given in the address: `calls.desc`. */
import type { Agent } from '../../../api/admin.ts'
import { agentStatus } from '../../../agent/agent-status.ts'

export const sortColumns = ['name', 'kind', 'health', 'calls', 'errors', 'used', 'load'] as const
export type SortColumn = (typeof sortColumns)[number]

export interface AgentOrder {
  readonly column: SortColumn
  readonly isDescending: boolean
}

/** Names begin with A, numbers with the greatest, health with the worst. */
const startsDescending: ReadonlySet<SortColumn> = new Set(['calls', 'errors', 'used', 'load'])

/** As the hub lists them: without `sort` in the address. */
export function parseAgentOrder(param: string): AgentOrder | undefined {
  const [name, direction] = param.split('.')
  const column = sortColumns.find((one) => one === name)
  return column === undefined ? undefined : { column, isDescending: direction === 'desc' }
}

/** The order after a click on a column: the other direction if the list already has its order, then none. */
export function nextOrder(current: AgentOrder | undefined, column: SortColumn): string | undefined {
  const first = startsDescending.has(column)
  if (current?.column !== column) return orderParam(column, first)
  return current.isDescending === first ? orderParam(column, !first) : undefined
}

/** The usual direction of a column. */
export function firstOrder(column: SortColumn): string {
  return orderParam(column, startsDescending.has(column))
}

function orderParam(column: SortColumn, isDescending: boolean): string {
  return `${column}.${isDescending ? 'desc' : 'asc'}`
}

export function sortAgents(agents: readonly Agent[], order: AgentOrder | undefined): readonly Agent[] {
  if (order === undefined) return agents
  const sign = order.isDescending ? -1 : 1
  return agents.toSorted((a, b) => sign * compare(a, b, order.column) || a.name.localeCompare(b.name))
}

const healthRank: Readonly<Record<string, number>> = { unavailable: 0, down: 1, blocked: 2, failing: 3, slow: 4, up: 5 }

function compare(a: Agent, b: Agent, column: SortColumn): number {
  switch (column) {
    case 'name':
      return a.name.localeCompare(b.name)
    case 'kind':
      return a.kind.localeCompare(b.kind)
    case 'health':
      return (healthRank[agentStatus(a).word] ?? 0) - (healthRank[agentStatus(b).word] ?? 0)
    case 'calls':
      return a.usage.calls - b.usage.calls
    case 'errors':
      return errorRate(a) - errorRate(b) || a.usage.errors - b.usage.errors
    case 'used':
      return usedAt(a) - usedAt(b)
    case 'load':
      return a.load.working + a.load.waiting - (b.load.working + b.load.waiting)
  }
}

/** The share of calls of the last hour that failed, at most 1; 0 without calls. */
export function errorRate({ usage: { calls, errors } }: Pick<Agent, 'usage'>): number {
  return errors === 0 ? 0 : Math.min(1, errors / Math.max(1, calls))
}

function usedAt({ usage: { lastUsedAt } }: Agent): number {
  return lastUsedAt === undefined ? 0 : Date.parse(lastUsedAt)
}
