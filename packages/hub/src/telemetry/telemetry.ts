/** What the hub tells of what it does, in one piece: traces, metrics and spans for a collector. What is off costs nothing. */
import { readTraceparent, spanIdOfEvent } from '@parley/a2a'
import type { AgentLog, Store } from '@parley/a2a'
import type { Front, ServeOptions, ServePushOptions } from '@parley/a2a/node'
import { clockOf } from '@parley/a2a/server'
import type { OnAnswer, OnEvent, PushNews } from '@parley/a2a/server'
import type { TelemetryConfig } from '../config/telemetry.ts'
import { hubVersion } from '../hub-version.ts'
import { createLimiter } from '../limits/limiter.ts'
import { ownNotes } from '../own-notes.ts'
import type { Registry } from '../registry.ts'
import type { Traces, TraceSpan } from './contract.ts'
import { createHubMetrics } from './hub-metrics.ts'
import type { AgentHealth, HubMetrics, HubMetricsParts } from './hub-metrics.ts'
import { createMetricRegistry } from './metric-registry.ts'
import { createMetricsRoute } from './metrics-route.ts'
import type { Otel, OtlpSettings } from './otel.ts'
import { addProcessMetrics } from './process-metrics.ts'
import { timedStore } from './timed-store.ts'
import { createTraceIndex } from './trace-index.ts'
import type { TraceIndex } from './trace-index.ts'
import { createTraces } from './traces.ts'

export interface TelemetryParts extends Pick<HubMetricsParts, 'streams' | 'readers' | 'connections' | 'queues'> {
  /** Closed if telemetry cannot be opened. */
  readonly store: Store
  /** Nothing before there are any. */
  agents(): Pick<Registry, 'names' | 'status'> | undefined
  readonly log: AgentLog
  readonly now: () => number
  /** Default: `now`. */
  readonly monotonicNow?: () => number
  /** How long tasks are kept that have ended. */
  readonly keptMs?: number | undefined
  /** Whether only this machine reaches the hub. */
  readonly isAtHome: boolean
  isAdmin(key: string): boolean
}

export interface Telemetry {
  /** What is to be used from now on. */
  readonly store: Store
  /** There unless they are switched off. */
  readonly traces?: Traces
  readonly front?: Front
  /** What a server is to tell: those who were told before, and then this. */
  listening(others: Listening, push: ServeOptions['push']): Listening & { readonly push?: ServePushOptions }
  /** Reads what is left, and sends what waits. The store is needed until then. */
  close(): Promise<void>
}

export interface Listening {
  readonly onAnswer: OnAnswer
  readonly onEvent: OnEvent
}

export async function openTelemetry(config: TelemetryConfig, parts: TelemetryParts): Promise<Telemetry> {
  try {
    return await open(config, parts)
  } catch (reason) {
    await parts.store.close()
    throw reason
  }
}

async function open(config: TelemetryConfig, parts: TelemetryParts): Promise<Telemetry> {
  const { log } = parts
  const { now, monotonicNow } = clockOf(parts)
  const version = hubVersion()
  const metrics =
    config.metrics === false
      ? undefined
      : createHubMetrics({
          ...parts,
          hasAgent: (name) => parts.agents()?.names().includes(name) === true,
          agents: () => agentHealth(parts.agents()),
        })
  const ofProcess = metrics === undefined ? undefined : addProcessMetrics(metrics.registry, version)
  const store = metrics === undefined ? parts.store : timedStore(parts.store, metrics.onStore)
  // What is not counted has nothing to report but what becomes of the reports.
  const registry = metrics?.registry ?? createMetricRegistry()
  const otel = config.otlp === undefined ? undefined : await loadOtel(settingsOf(config.otlp, metrics))
  const index = config.traces || otel !== undefined ? openIndex() : undefined
  const traces = index === undefined || !config.traces ? undefined : createTraces({ store, notes: notes(), index })
  const front = metrics === undefined ? undefined : metricsFront(metrics)
  let closed: Promise<void> | undefined

  return {
    store,
    ...(traces !== undefined ? { traces } : {}),
    ...(front !== undefined ? { front } : {}),
    listening: ({ onAnswer, onEvent }, push) => ({
      onAnswer(answered) {
        onAnswer(answered)
        metrics?.onAnswer(answered)
      },
      onEvent(event, about) {
        metrics?.onEvent(event, about)
        index?.wake()
        return onEvent(event, about)
      },
      ...(push !== undefined ? { push: { ...(push === true ? {} : push), onNews } } : {}),
    }),
    close: () => (closed ??= close()),
  }

  async function close(): Promise<void> {
    await index?.close()
    await otel?.close()
    ofProcess?.close()
  }

  function onNews(news: PushNews): void {
    metrics?.onPush(news)
    const span = otel === undefined ? undefined : pushSpanOf(news)
    if (span !== undefined) otel?.onSpan(span)
  }

  function notes() {
    return ownNotes(parts.store.notes, 'telemetry')
  }

  function openIndex(): TraceIndex {
    const ended = (span: TraceSpan): void => {
      metrics?.onSpan(span)
      otel?.onSpan(span)
    }
    // Not by the clock of the store: reading the log is not what calls wait for.
    return createTraceIndex({ store: parts.store, notes: notes(), log, now, monotonicNow, keptMs: parts.keptMs, ended })
  }

  async function loadOtel(settings: OtlpSettings): Promise<Otel> {
    const { openOtel } = await import('./otel.ts')
    return openOtel(settings, { registry, version, log, now })
  }

  function metricsFront({ registry: counted }: HubMetrics): Front {
    const { metrics: settings } = config
    const isPublic = settings !== false && settings.public
    const limiter = createLimiter(monotonicNow)
    const { isAdmin } = parts
    return createMetricsRoute({ registry: counted, isOpen: isPublic || parts.isAtHome, isAdmin, limiter, log })
  }
}

function agentHealth(agents: Pick<Registry, 'names' | 'status'> | undefined): readonly AgentHealth[] {
  return (agents?.names() ?? []).flatMap((name) => {
    const status = agents?.status(name)
    return status === undefined ? [] : [{ name, kind: status.kind, isUp: status.state === 'open' }]
  })
}

function settingsOf(otlp: NonNullable<TelemetryConfig['otlp']>, metrics: HubMetrics | undefined): OtlpSettings {
  const { interval: intervalMs, ...same } = otlp
  return { ...same, intervalMs, metrics: otlp.metrics && metrics !== undefined }
}

/** One try to tell a webhook, as the log of attempts will have it. */
function pushSpanOf(news: PushNews): TraceSpan | undefined {
  const { taskId, configId, seq, attempt, outcome, said, at, durationMs, traceparent, agent } = news
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
    attributes: { 'gen_ai.agent.name': agent, taskId, configId, seq, attempt, said },
    events: [],
    droppedEvents: 0,
  }
}
