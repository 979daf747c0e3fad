/** The telemetry of the hub: metrics, statistics, traces and spans for a collector follow its observer. Disabled parts cost nothing. */
import type { IncomingMessage } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { AgentLog } from '@parley/a2a'
import { readTraceparent, spanIdOfEvent, omitUndefined, clockOf, type PushResult } from '@parley/a2a/internal'
import type { FullStore } from '@parley/a2a/stores'
import type { Middleware } from '@parley/a2a/node'
import type { TelemetryConfig } from '../config/sections/telemetry.ts'
import { hubVersion } from '../config/hub-version.ts'
import { createRateLimiter } from '../limits/rate-limiter.ts'
import { namespacedKv } from '../store/namespaced-kv.ts'
import type { Traces, TraceSpan } from './traces/trace-types.ts'
import { createHubMetrics, metricTable, type MetricSources } from './metrics/metric-table.ts'
import { createMetricsRoute, isFromThisMachine } from './metrics/metrics-route.ts'
import type { Otel } from './otel/otel.ts'
import { observedStore, type Observer } from './observer.ts'
import { createStatsHistory, type StatsHistory } from './stats/stats-history.ts'
import { historyMetrics } from './stats/stats-recorder.ts'
import { createStoreMonitor, type StoreReport } from './store/store-monitor.ts'
import { createTraceIndex, readTracePosition, type TraceIndex } from './traces/trace-index.ts'
import { createTraces } from './traces/traces.ts'

export interface TelemetryDeps extends Omit<
  MetricSources,
  'storeReport' | 'endedTasks' | 'otlpSpans' | 'eventLoopDelay'
> {
  readonly observer: Observer
  /** The open streams of an agent, or of the hub. */
  streams(agent?: string): number
  /** Closed if telemetry cannot be opened. */
  readonly store: FullStore
  readonly log: AgentLog
  readonly now: () => number
  /** Default: `now`. */
  readonly monotonicNow?: () => number
  /** How long the traces of ended tasks are kept. Read for every batch: it may change. */
  readonly retentionMs?: number | undefined
  /** Read at every use: it may change. */
  config(): Parameters<typeof isFromThisMachine>[1]
  isAdmin(key: string): Promise<boolean>
  /** When the last backup of the store was completed. */
  lastBackupAt?(): Promise<number | undefined>
}

export interface Telemetry {
  /** The store to use from now on. */
  readonly store: FullStore
  /** Set unless traces are disabled. */
  readonly traces?: Traces
  readonly stats: StatsHistory
  /** What operators watch of the store. */
  storeReport(): Promise<StoreReport | undefined>
  readonly middleware?: Middleware
  /** Resolves when the traces of everything appended so far are written. */
  flushTraces(): Promise<void>
  /** Reads the remaining records and sends pending spans. Needs the store until then. */
  close(): Promise<void>
}

export async function openTelemetry(config: TelemetryConfig, parts: TelemetryDeps): Promise<Telemetry> {
  try {
    return await createTelemetry(config, parts)
  } catch (reason) {
    await parts.store.close()
    throw reason
  }
}

async function createTelemetry(config: TelemetryConfig, parts: TelemetryDeps): Promise<Telemetry> {
  const { log, observer } = parts
  const { now, monotonicNow } = clockOf(parts)
  const hasIndex = config.traces || config.otlp !== undefined
  const monitor = createStoreMonitor({
    store: parts.store,
    kv: telemetryKv(),
    log,
    now,
    monotonicNow,
    feedReaders: hasIndex ? [{ name: 'traces', position: () => readTracePosition(telemetryKv()) }] : [],
    ...omitUndefined({ lastBackupAt: parts.lastBackupAt }),
  })
  const eventLoopDelay = monitorEventLoopDelay({ resolution: 20 })
  const hasMetrics = config.metrics !== false
  if (hasMetrics) eventLoopDelay.enable()
  // Before the metrics: what is counted in a new minute must not become part of the history of the last one.
  const stats = createStatsHistory({
    kv: telemetryKv(),
    ...{ log, now, observer },
    hasAgent: (name) => parts.agents()?.has(name) === true,
    streams: parts.streams,
    increases: (metric) => registry.increases(metric),
  })
  const registry = createHubMetrics(
    {
      ...parts,
      storeReport: monitor.report,
      endedTasks: stats.endedTasks,
      otlpSpans: () => otel?.spans,
      eventLoopDelay,
    },
    hasMetrics ? metricTable : metricTable.filter(({ otel: name }) => historyMetrics.includes(name)),
  )
  const store = hasMetrics ? observedStore(parts.store, observer) : parts.store
  const otel = config.otlp === undefined ? undefined : await openExport(config.otlp)
  const index = hasIndex ? openIndex() : undefined
  const traces = index === undefined || !config.traces ? undefined : createTraces({ store, kv: telemetryKv(), index })
  const front = hasMetrics ? metricsMiddleware() : undefined
  let closed: Promise<void> | undefined

  return {
    store,
    stats,
    storeReport: monitor.report,
    ...omitUndefined({ traces, middleware: front }),
    flushTraces: async () => index?.refresh(),
    close: () => (closed ??= close()),
  }

  async function close(): Promise<void> {
    monitor.close()
    await index?.close()
    await stats.close()
    await otel?.close()
    eventLoopDelay.disable()
  }

  function telemetryKv() {
    return namespacedKv(parts.store.kv, 'telemetry')
  }

  function openIndex(): TraceIndex {
    // Not through the observed store: no call waits for reading the log.
    const traceIndex = createTraceIndex({
      store: parts.store,
      kv: telemetryKv(),
      log,
      now,
      monotonicNow,
      get retentionMs() {
        return parts.retentionMs
      },
      onSpanEnded: (span, agent, owner) => observer.observe('span', { span, agent, owner }),
      isDetailed: otel !== undefined,
    })
    observer.follow('write', traceIndex.wake)
    return traceIndex
  }

  async function openExport({ interval, ...settings }: NonNullable<TelemetryConfig['otlp']>): Promise<Otel> {
    const { openOtel } = await import('./otel/otel.ts')
    const exported = settings.metrics && hasMetrics ? registry : undefined
    const opened = openOtel(
      { ...settings, intervalMs: interval },
      { registry: exported, version: hubVersion(), log, now },
    )
    observer.follow('span', ({ span }) => opened.onSpan(span))
    observer.follow('push', (result) => {
      const span = pushResultSpan(result)
      if (span !== undefined) opened.onSpan(span)
    })
    return opened
  }

  function metricsMiddleware(): Middleware {
    const { metrics: settings } = config
    const isForAll = settings !== false && settings.public
    const limiter = createRateLimiter(monotonicNow)
    const { isAdmin } = parts
    const isPublic = (request: IncomingMessage): boolean => isForAll || isFromThisMachine(request, parts.config())
    return createMetricsRoute({ registry, isPublic, isAdmin, limiter, log })
  }
}

/** The span of one webhook attempt, as the log of attempts will have it. */
function pushResultSpan(news: PushResult): TraceSpan | undefined {
  const { taskId, configId, seq, attempt, outcome, detail, at, durationMs, traceparent, agent } = news
  const context = readTraceparent(traceparent)
  if (context === undefined) return undefined
  return {
    ...context,
    parentId: spanIdOfEvent(taskId, 0),
    taskId,
    name: 'push',
    kind: 'push',
    startedAt: at,
    endedAt: at + durationMs,
    outcome: outcome === 'delivered' ? 'ok' : 'error',
    attributes: { 'gen_ai.agent.name': agent, taskId, configId, seq, attempt, said: detail },
    events: [],
    droppedEvents: 0,
  }
}
