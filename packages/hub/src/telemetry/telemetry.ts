/** The telemetry of the hub: traces, metrics and spans for a collector. Disabled parts cost nothing. */
import type { IncomingMessage } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { AgentLog } from '@parley/a2a'
import {
  type OnOutcome,
  readTraceparent,
  spanIdOfEvent,
  omitUndefined,
  clockOf,
  type PushResult,
  type ServePushOptions,
} from '@parley/a2a/internal'
import type { FullStore } from '@parley/a2a/stores'
import type { Middleware, ServeOptions } from '@parley/a2a/node'
import type { OnEvent } from '@parley/a2a/server'
import type { TelemetryConfig } from '../config/sections/telemetry.ts'
import { hubVersion } from '../config/hub-version.ts'
import { createRateLimiter } from '../limits/rate-limiter.ts'
import { namespacedKv } from '../store/namespaced-kv.ts'
import type { Traces, TraceSpan } from './traces/trace-types.ts'
import { createHubMetrics, type HubMetrics, type MetricSources } from './metrics/metric-table.ts'
import { createMetricsRoute, isFromThisMachine } from './metrics/metrics-route.ts'
import type { Otel } from './otel/otel.ts'
import { observedTask, type StoreCall } from './observer.ts'
import { createStatsHistory, type StatsHistory } from './stats/stats-history.ts'
import { createStoreMonitor, type StoreReport } from './store/store-monitor.ts'
import { createTraceIndex, readTracePosition, type TraceIndex } from './traces/trace-index.ts'
import { createTraces } from './traces/traces.ts'

export interface TelemetryDeps extends Omit<
  MetricSources,
  'storeReport' | 'endedTasks' | 'otlpSpans' | 'eventLoopDelay'
> {
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
  /** Adds the telemetry listeners after the given ones. */
  withListeners(others: Omit<HubListeners, 'push'>, push: ServeOptions['push']): HubListeners
  /** Resolves when the traces of everything appended so far are written. */
  flushTraces(): Promise<void>
  /** Reads the remaining records and sends pending spans. Needs the store until then. */
  close(): Promise<void>
}

/** The listeners that the hub passes to the server. */
export interface HubListeners {
  readonly onOutcome: OnOutcome
  readonly onEvent: OnEvent
  readonly push?: ServePushOptions
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
  const { log } = parts
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
  const hasAgent = (name: string): boolean => parts.agents()?.status(name) !== undefined
  const eventLoopDelay = monitorEventLoopDelay({ resolution: 20 })
  const metrics = config.metrics === false ? undefined : openMetrics()
  const stats = createStatsHistory({
    kv: telemetryKv(),
    log,
    now,
    hasAgent,
    streams: parts.streams,
  })
  const store =
    metrics === undefined ? parts.store : timedStore(parts.store, (call) => metrics.observe('storeCall', call))
  const otel = config.otlp === undefined ? undefined : await loadOtel(config.otlp)
  const index = hasIndex ? openIndex() : undefined
  const traces = index === undefined || !config.traces ? undefined : createTraces({ store, kv: telemetryKv(), index })
  const front = metrics === undefined ? undefined : metricsMiddleware(metrics)
  let closed: Promise<void> | undefined

  return {
    store,
    stats,
    storeReport: monitor.report,
    ...omitUndefined({ traces, middleware: front }),
    withListeners: ({ onOutcome, onEvent }, push) => ({
      onOutcome(answered) {
        onOutcome(answered)
        metrics?.observe('call', { outcome: answered, agent: hasAgent(answered.agent) ? answered.agent : undefined })
        stats.onOutcome(answered)
      },
      onEvent(event, about) {
        const task = observedTask(event, about)
        if (task !== undefined) metrics?.observe('task', task)
        stats.onEvent(event, about)
        index?.wake()
        return onEvent(event, about)
      },
      ...(push !== undefined ? { push: { ...(push === true ? {} : push), onResult: onNews } } : {}),
    }),
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

  function onNews(news: PushResult): void {
    metrics?.observe('push', news)
    const span = otel === undefined ? undefined : pushResultSpan(news)
    if (span !== undefined) otel?.onSpan(span)
  }

  function telemetryKv() {
    return namespacedKv(parts.store.kv, 'telemetry')
  }

  function openIndex(): TraceIndex {
    const ended = (span: TraceSpan, agent: string, owner: string): void => {
      metrics?.observe('span', span)
      stats.onSpan(span, agent, owner)
      otel?.onSpan(span)
    }
    // Not through the timed store: no call waits for reading the log.
    return createTraceIndex({
      store: parts.store,
      kv: telemetryKv(),
      log,
      now,
      monotonicNow,
      get retentionMs() {
        return parts.retentionMs
      },
      onSpanEnded: ended,
      isDetailed: otel !== undefined,
    })
  }

  function openMetrics(): HubMetrics {
    eventLoopDelay.enable()
    return createHubMetrics({
      ...parts,
      storeReport: monitor.report,
      endedTasks: () => stats.endedTasks(),
      otlpSpans: () => otel?.spans,
      eventLoopDelay,
    })
  }

  async function loadOtel({ interval, ...settings }: NonNullable<TelemetryConfig['otlp']>): Promise<Otel> {
    const { openOtel } = await import('./otel/otel.ts')
    const registry = settings.metrics ? metrics?.registry : undefined
    return openOtel({ ...settings, intervalMs: interval }, { registry, version: hubVersion(), log, now })
  }

  function metricsMiddleware({ registry: counted }: HubMetrics): Middleware {
    const { metrics: settings } = config
    const isForAll = settings !== false && settings.public
    const limiter = createRateLimiter(monotonicNow)
    const { isAdmin } = parts
    const isPublic = (request: IncomingMessage): boolean => isForAll || isFromThisMachine(request, parts.config())
    return createMetricsRoute({ registry: counted, isPublic, isAdmin, limiter, log })
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

type AsyncMethod = (...given: unknown[]) => Promise<unknown>
/** The methods that calls and turns wait for, and the `operation` that each has in the metrics. */
type TimedMethods<Part> = Readonly<Partial<Record<keyof Part & string, string>>>

const taskMethods: TimedMethods<FullStore['tasks']> = {
  append: 'append',
  load: 'load',
  read: 'read',
  list: 'list',
  findMessage: 'findMessage',
}

/** Measures the duration and failures of store calls. Results are not inspected. */
export function timedStore(store: FullStore, observe: (call: StoreCall) => void): FullStore {
  return Object.assign(timed(store, { prune: 'prune' }), {
    tasks: timed(store.tasks, taskMethods),
    push: timed(store.push, { claim: 'claimPush' }),
    feed: timed(store.feed, { read: 'feed' }),
  })

  /** Inherits from the original, so that everything else is unchanged. */
  function timed<Part extends object>(part: Part, methods: TimedMethods<Part>): Part {
    const view = Object.create(part) as Record<string, AsyncMethod>
    for (const [name, operation] of Object.entries<string>(methods as Record<string, string>)) {
      const method = (part[name as keyof Part] as AsyncMethod).bind(part)
      view[name] = (...given) => {
        const startedAt = performance.now()
        const report = (isOk: boolean): void => {
          observe({ operation, seconds: (performance.now() - startedAt) / 1_000, isOk })
        }
        const answer = method(...given)
        answer.then(
          () => report(true),
          () => report(false),
        )
        return answer
      }
    }
    return view as Part
  }
}
