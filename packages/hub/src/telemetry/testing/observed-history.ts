/** The statistics with the observer and the metrics that they follow, for tests. */
import assert from 'node:assert/strict'
import type { StreamEvent } from '@parley/a2a'
import type { EndedCall } from '@parley/a2a/server'
import { createHubMetrics, type HubMetricsDeps } from '../metrics/metric-table.ts'
import { createObserver } from '../observer.ts'
import { createStatsHistory, type StatsHistory, type StatsHistoryDeps } from '../stats/stats-history.ts'
import type { TraceSpan } from '../traces/trace-types.ts'

export type HistoryOptions = Pick<StatsHistoryDeps, 'kv'> & Partial<StatsHistoryDeps>

/** What the statistics need to know of an answered request. */
export type AnsweredRequest = Pick<EndedCall, 'agent' | 'endpoint' | 'operation' | 'outcome' | 'durationMs' | 'caller'>

const unnamed = {
  method: 'POST',
  path: '/',
  query: '',
  header: () => undefined,
  binding: 'JSONRPC',
  status: 200,
} as const

export interface ObservedHistory extends StatsHistory {
  onOutcome(answered: AnsweredRequest): void
  onEvent(event: StreamEvent, about: { readonly agent: string; readonly owner: string }): void
  onSpan(span: Pick<TraceSpan, 'kind' | 'attributes'>, agent: string, owner: string): void
}

export function openHistory({ now = Date.now, hasAgent = () => true, ...options }: HistoryOptions): ObservedHistory {
  const observer = createObserver({ hasAgent, log: { error: (message) => assert.fail(message) } })
  const history = createStatsHistory({
    ...{ log: { warn() {} }, streams: () => 0, now, hasAgent, observer },
    increases: (metric) => metrics.increases(metric),
    ...options,
  })
  const deps: Partial<HubMetricsDeps> = { observer, now }
  const metrics = createHubMetrics(deps as HubMetricsDeps)
  return {
    ...history,
    onOutcome: (answered) => observer.onOutcome({ ...unnamed, ...answered }),
    onEvent: (event, about) => observer.onEvent(event, { tenant: '', taskId: 't', contextId: 'c', seq: 1, ...about }),
    onSpan: (span, agent, owner) => observer.observe('span', { span: span as TraceSpan, agent, owner }),
  }
}
