/**
 * Every metric of the hub, one row each (T-12). `/metrics` and the OpenTelemetry export, the reference page, and the tests of the alerts
 * and of the dashboard read this table.
 */
import type { RecordableHistogram } from 'node:perf_hooks'
import type { Store } from '@parley/a2a/stores'
import { clockOf, type ConnectionCounts, type HandlerReaders } from '@parley/a2a/internal'
import type { AuditExportStatus } from '../../audit/audit-export.ts'
import { hubVersion } from '../../config/hub-version.ts'
import type { SecretProviderStatus } from '../../config/secrets/secret-cache.ts'
import type { AgentRegistry, AgentStatus } from '../../registry/agent-registry.ts'
import type { Observed, Observer } from '../observer.ts'
import type { SpanQueue } from '../otel/span-queue.ts'
import type { EndedTasks } from '../stats/stats-history.ts'
import type { StoreReport } from '../store/store-monitor.ts'
import { spanUsage } from '../traces/span-totals.ts'
import type { TraceSpan } from '../traces/trace-types.ts'
import {
  createMetricRegistry,
  type MetricInfo,
  type MetricRegistry,
  type MetricType,
  type Values,
} from './metric-registry.ts'

/** A metric has the values that `read` returns, or counts what its listener observes. */
export interface MetricRow extends MetricInfo {
  readonly type: MetricType
  /** Upper bounds of the buckets of a histogram. */
  readonly bounds: readonly number[]
  readonly read?: Read
  /** How long values that take time to read are reused. */
  readonly cacheMs?: number
  readonly on?: { readonly kind: keyof Observed; listener(count: Count, observed: Observed[keyof Observed]): void }
}

type Read = (sources: MetricSources) => Values | Promise<Values>

/** What the hub passes to the rows that read. */
export interface MetricSources {
  readonly store: Pick<Store, 'tasks'>
  storeReport(): Promise<StoreReport | undefined>
  auditExports(): Promise<readonly AuditExportStatus[]>
  secretProviders(): readonly SecretProviderStatus[]
  streams(): number
  /** `undefined` until the server is open. */
  readers(): Omit<HandlerReaders, 'openMemory'> | undefined
  connections(): ConnectionCounts | undefined
  /** `undefined` until the registry exists. */
  agents(): Pick<AgentRegistry, 'names' | 'has' | 'status'> | undefined
  endedTasks(): Promise<ReadonlyMap<string, EndedTasks>>
  queues(): readonly { readonly agent: string; readonly waiting: number; readonly running: number }[]
  /** `undefined` without a collector. */
  otlpSpans(): SpanQueue['counts'] | undefined
  readonly eventLoopDelay: Pick<RecordableHistogram, 'percentile' | 'reset'>
}

/** Adds to a counter, by default 1, or to a histogram. */
type Count = (labels: readonly string[], value?: number) => void

function metric(type: MetricType, bounds: readonly number[] = []) {
  return (otel: string, unit: string, help: string, labels: readonly string[] = [], ownName?: string) => {
    const unitSuffix = { s: '_seconds', By: '_bytes' }[unit] ?? ''
    const name = ownName ?? `${otel.replaceAll('.', '_')}${unitSuffix}${type === 'counter' ? '_total' : ''}`
    const row = { name, otel, type, unit, help, labels, bounds }
    return {
      read: (read: Read, cacheMs = 0): MetricRow => ({ ...row, read, cacheMs }),
      on: <Kind extends keyof Observed>(
        kind: Kind,
        listener: (count: Count, observed: Observed[Kind]) => void,
      ): MetricRow => ({ ...row, on: { kind, listener } }),
    }
  }
}

const counter = metric('counter')
const gauge = metric('gauge')
const latency = metric('histogram', [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300])
const storeLatency = metric(
  'histogram',
  [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
)
// From the OpenTelemetry conventions for generative AI.
const modelLatency = metric(
  'histogram',
  [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92],
)
const tokenCount = metric('histogram', [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304])

export const metricTable: readonly MetricRow[] = [
  counter('parley.requests', '{request}', 'Requests to agents. The outcome is OK or the code of the error.', [
    'agent',
    'operation',
    'outcome',
    'binding',
    'version',
  ]).on('call', (count, { agent, call }) => {
    count([agent, call.operation ?? call.endpoint, call.outcome, call.binding, call.version ?? '-'])
  }),
  latency('parley.request.duration', 's', 'Time until the response; for a stream, until its first event.', [
    'agent',
    'operation',
    'binding',
  ]).on('call', (count, { agent, call }) => {
    count([agent, call.operation ?? call.endpoint, call.binding], call.durationMs / 1_000)
  }),
  counter('parley.tasks.started', '{task}', 'Tasks opened.', ['agent']).on('task', (count, { agent, isStarted }) => {
    if (isStarted) count([agent])
  }),
  counter('parley.tasks.ended', '{task}', 'Ended tasks, by final state.', ['agent', 'state']).on(
    'task',
    (count, { agent, state, isEnded }) => {
      if (isEnded) count([agent, shortState(state)])
    },
  ),
  latency('parley.task.duration', 's', 'From the start of a task to its end.', ['agent', 'state']).on(
    'span',
    (count, { span }) => {
      if (span.kind === 'task') count([agentOf(span), shortState(labelText(span.attributes['state']))], seconds(span))
    },
  ),
  latency('parley.turn.duration', 's', 'Duration of turns.', ['agent', 'outcome']).on('span', (count, { span }) => {
    if (span.kind === 'turn') count([agentOf(span), span.outcome ?? 'ok'], seconds(span))
  }),
  latency('parley.hop.duration', 's', 'Calls of other agents, by calling agent.', ['agent', 'outcome']).on(
    'span',
    (count, { span }) => {
      if (span.kind === 'hop') count([labelText(span.attributes['agent']), span.outcome ?? 'ok'], seconds(span))
    },
  ),
  latency('parley.tool.duration', 's', 'Tool calls.', ['tool', 'outcome']).on('span', (count, { span }) => {
    if (span.kind === 'tool')
      count([labelText(span.attributes['gen_ai.tool.name']), span.outcome ?? 'ok'], seconds(span))
  }),
  modelLatency('gen_ai.client.operation.duration', 's', 'Model calls.', [
    'gen_ai.request.model',
    'gen_ai.operation.name',
    'error.type',
  ]).on('span', (count, { span }) => {
    if (span.kind !== 'model') return
    const { outcome = 'ok' } = span
    const error = outcome === 'ok' ? '' : labelText(span.attributes['error.type'] ?? outcome)
    count([modelOf(span), labelText(span.attributes['gen_ai.operation.name']), error], seconds(span))
  }),
  tokenCount('gen_ai.client.token.usage', '{token}', 'Tokens of one model call.', [
    'gen_ai.request.model',
    'gen_ai.token.type',
  ]).on('span', (count, { span }) => {
    if (span.kind !== 'model') return
    const { inputTokens, outputTokens } = spanUsage(span.attributes)
    if (inputTokens !== undefined) count([modelOf(span), 'input'], inputTokens)
    if (outputTokens !== undefined) count([modelOf(span), 'output'], outputTokens)
  }),
  counter('parley.model.cost', '1', 'Cost of model calls, by the configured prices.', ['model']).on(
    'span',
    (count, { span }) => {
      const { cost } = spanUsage(span.attributes)
      if (span.kind === 'model' && cost !== undefined) count([modelOf(span)], cost)
    },
  ),
  counter('parley.push.attempts', '{attempt}', 'Delivery attempts to webhooks.', ['outcome']).on(
    'push',
    (count, { outcome }) => {
      if (outcome !== 'dead') count([outcome])
    },
  ),
  counter('parley.push.dead', '{webhook}', 'Webhooks whose delivery failed permanently.').on(
    'push',
    (count, { outcome }) => {
      if (outcome === 'dead') count([])
    },
  ),
  latency('parley.push.lag', 's', 'From an event to its delivery to a webhook.').on(
    'push',
    (count, { outcome, lagMs }) => {
      if (outcome === 'delivered' && lagMs !== undefined) count([], lagMs / 1_000)
    },
  ),
  storeLatency('parley.store.duration', 's', 'Store calls.', ['operation']).on('storeCall', (count, call) => {
    count([call.operation], call.seconds)
  }),
  counter('parley.store.errors', '{error}', 'Failed store calls.', ['operation']).on(
    'storeCall',
    (count, { operation, isOk }) => {
      if (!isOk) count([operation])
    },
  ),
  gauge('parley.tasks', '{task}', 'Tasks in the store, by their state.', ['state']).read(
    async ({ store }) => (await store.tasks.countStates()).map(({ state, tasks }) => [tasks, shortState(state)]),
    // Counting all tasks of a large store takes a moment.
    10_000,
  ),
  gauge('parley.streams.open', '{stream}', 'Open streams.').read(({ streams }) => [[streams()]]),
  gauge(
    'parley.readers.unsent',
    'By',
    'Bytes held for clients that have not read them; bytes that several clients share count once.',
  ).read(({ readers }) => [[readers()?.unsentBytes]]),
  gauge('parley.readers.paused', '{reader}', 'Clients that wait because of limits.unsent or unsentPerCaller.').read(
    ({ readers }) => [[readers()?.paused]],
  ),
  counter('parley.readers.cut', '{reader}', 'Clients disconnected because they read nothing for 30 seconds.').read(
    ({ readers }) => [[readers()?.disconnected]],
  ),
  counter('parley.log.pages.read', '{page}', 'Pages of task logs read from the store for streams.').read(
    ({ readers }) => [[readers()?.pagesRead]],
  ),
  counter('parley.log.pages.shared', '{page}', 'Pages of task logs that several streams shared.').read(
    ({ readers }) => [[readers()?.pagesShared]],
  ),
  gauge('parley.connections.open', '{connection}', 'Open connections of HTTP and gRPC.').read(({ connections }) => [
    [connections()?.open],
  ]),
  counter(
    'parley.connections.refused',
    '{connection}',
    'Refused because of limits.connections or limits.connectionsPerAddress.',
  ).read(({ connections }) => [[connections()?.refused]]),
  counter('parley.connections.dropped', '{connection}', 'Idle ones closed for new ones.').read(({ connections }) => [
    [connections()?.dropped],
  ]),
  gauge('parley.agent.up', '1', 'Whether an agent is available: 1 or 0.', ['agent', 'kind']).read(({ agents }) =>
    ofAgents(agents(), ({ state }) => state === 'open'),
  ),
  gauge(
    'parley.agent.failing',
    '1',
    'Whether more than 20 % of at least 5 tasks of an agent that ended in the last 15 minutes failed: 1 or 0.',
    ['agent', 'kind'],
  ).read(async ({ agents, endedTasks }) => {
    const ended = await endedTasks()
    return ofAgents(agents(), ({ name }) => ended.get(name)?.isFailing === true)
  }),
  gauge(
    'parley.queue.waiting',
    '{turn}',
    'Turns that wait for a concurrency slot of their agent (limits.concurrent).',
    ['agent'],
  ).read(({ queues }) => queues().map(({ agent, waiting }) => [waiting, agent])),
  gauge('parley.queue.running', '{turn}', 'Turns that hold a concurrency slot of their agent.', ['agent']).read(
    ({ queues }) => queues().map(({ agent, running }) => [running, agent]),
  ),
  gauge('parley.store.size', 'By', 'Size of the store: the database, and the write-ahead log.', ['part']).read(
    ofStore(({ stats: { bytes } }) => [
      [bytes?.database, 'database'],
      [bytes?.wal, 'wal'],
    ]),
  ),
  gauge('parley.store.reusable', 'By', 'The part of the database that is empty and is used again.').read(
    ofStore(({ stats }) => [[stats.bytes?.reusable]]),
  ),
  gauge('parley.store.disk.free', 'By', 'Free space of the disk that the store is on (SQLite).').read(
    ofStore(({ stats }) => [[stats.bytes?.diskFree]]),
  ),
  gauge('parley.store.growth', 'By', 'Growth of the stored data in the last hour and day.', ['window']).read(
    ofStore(({ growth }) => [
      [growth.hour?.bytes, '1h'],
      [growth.day?.bytes, '1d'],
    ]),
  ),
  gauge('parley.store.oldest.task.timestamp', 's', 'When the oldest task was created.').read(
    ofStore(({ stats }) => [[inSeconds(stats.oldestTaskAt)]]),
  ),
  gauge(
    'parley.store.oldest.unfinished.timestamp',
    's',
    'Since when the oldest unfinished task runs, or waits for its caller.',
  ).read(ofStore(({ stats }) => [[inSeconds(stats.oldestUnfinishedAt)]])),
  gauge('parley.store.feed.position', '1', 'The end of the feed of appends.').read(
    ofStore(({ stats }) => [[stats.position]]),
  ),
  gauge(
    'parley.push.backlog',
    '{webhook}',
    'Webhooks with undelivered events, due now or waiting for a retry, and dead ones. Each is counted up to 10000.',
    ['state'],
  ).read(
    ofStore(({ stats: { push } }) => [
      [push?.due, 'due'],
      [push && push.behind - push.due, 'retrying'],
      [push?.dead, 'dead'],
    ]),
  ),
  gauge('parley.push.backlog.age', 's', 'How long the oldest undelivered event waits.').read(
    ofStore(({ at, stats: { push } }) => [[inSeconds(push && Math.max(0, at - (push.oldestAt ?? at)))]]),
  ),
  gauge('parley.feed.reader.behind', '{append}', 'Appends that a reader of the feed has not read. Counted up to 500.', [
    'reader',
  ]).read(ofStore(({ feedReaders }) => feedReaders.map(({ name, behind }) => [behind, name]))),
  gauge('parley.backup.last.timestamp', 's', 'When the last backup was completed; absent without one.').read(
    ofStore(({ lastBackupAt }) => [[inSeconds(lastBackupAt)]]),
  ),
  gauge('parley.audit.export.lag', 's', 'How long the oldest audit entry waits for its export.', ['sink']).read(
    ofExports(({ lagMs }) => inSeconds(lagMs)),
  ),
  counter('parley.audit.export.entries', '{entry}', 'Exported audit entries.', ['sink']).read(
    ofExports(({ exported }) => exported),
  ),
  counter('parley.audit.export.errors', '{error}', 'Failed attempts to export the audit.', ['sink']).read(
    ofExports(({ failures }) => failures),
  ),
  gauge(
    'parley.secrets.stale',
    '{secret}',
    'Secrets that their provider failed to read again: their last value is in use.',
    ['provider'],
  ).read(({ secretProviders }) => secretProviders().map(({ provider, stale }) => [stale, provider])),
  counter(
    'parley.otlp.spans',
    '{span}',
    'Spans for the collector, if there is one: exported, failed, or dropped because too many waited.',
    ['outcome'],
  ).read(({ otlpSpans }) => Object.entries(otlpSpans() ?? {}).map(([outcome, spans]) => [spans, outcome])),
  // The process, under the names that Prometheus dashboards use.
  counter('process.cpu.time', 's', 'User and system time of the CPU.', [], 'process_cpu_seconds_total').read(() => {
    const { user, system } = process.cpuUsage()
    return [[(user + system) / 1_000_000]]
  }),
  gauge('process.memory.usage', 'By', 'Resident memory.', [], 'process_resident_memory_bytes').read(() => [
    [process.memoryUsage.rss()],
  ]),
  gauge('v8js.memory.heap.used', 'By', 'Used heap.', [], 'nodejs_heap_size_used_bytes').read(() => [
    [process.memoryUsage().heapUsed],
  ]),
  gauge(
    'process.start_time',
    's',
    'Start time of the process since the Unix epoch.',
    [],
    'process_start_time_seconds',
  ).read(() => [[performance.timeOrigin / 1_000]]),
  gauge('nodejs.eventloop.delay.p99', 's', 'Delay of the event loop.', [], 'nodejs_eventloop_lag_p99_seconds').read(
    ({ eventLoopDelay }) => {
      const delay = eventLoopDelay.percentile(99) / 1_000_000_000
      eventLoopDelay.reset()
      return [[Number.isFinite(delay) ? delay : 0]]
    },
  ),
  gauge('parley.build.info', '1', 'Versions of Parley and Node.js.', ['version', 'node']).read(() => [
    [1, hubVersion(), process.versions.node],
  ]),
]

export interface HubMetricsDeps extends MetricSources {
  readonly observer: Pick<Observer, 'follow'>
  readonly now: () => number
  /** Default: `now`. */
  readonly monotonicNow?: () => number
}

/** The registry of the table. */
export function createHubMetrics(deps: HubMetricsDeps, rows = metricTable): MetricRegistry {
  const registry = createMetricRegistry()
  const { monotonicNow } = clockOf(deps)
  for (const row of rows) {
    const { type, bounds, read, on } = row
    if (read !== undefined) registry.observed(row, type === 'counter' ? 'counter' : 'gauge', cached(read, row.cacheMs))
    if (on === undefined) continue
    const count = type === 'histogram' ? registry.histogram(row, bounds).observe : registry.counter(row).add
    deps.observer.follow(on.kind, (observed) => on.listener(count, observed))
  }
  return registry

  function cached(read: Read, cacheMs = 0): () => Promise<Values> {
    let values: Promise<Values> | undefined
    let until = -Infinity
    return () => {
      if (values === undefined || monotonicNow() >= until) {
        until = monotonicNow() + cacheMs
        values = Promise.resolve(read(deps))
        values.catch(() => (until = -Infinity))
      }
      return values
    }
  }
}

function ofAgents(agents: ReturnType<MetricSources['agents']>, isTrue: (status: AgentStatus) => boolean): Values {
  return (agents?.names() ?? []).flatMap((name) => {
    const status = agents?.status(name)
    return status === undefined ? [] : [[isTrue(status) ? 1 : 0, name, status.kind] as const]
  })
}

function ofStore(values: (report: StoreReport) => Values): Read {
  return async ({ storeReport }) => {
    const report = await storeReport()
    return report === undefined ? [] : values(report)
  }
}

function ofExports(value: (status: AuditExportStatus) => number | undefined): Read {
  return async ({ auditExports }) => (await auditExports()).map((status) => [value(status), status.name])
}

function inSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1_000
}

function seconds({ startedAt, endedAt = startedAt }: TraceSpan): number {
  return (endedAt - startedAt) / 1_000
}

function agentOf({ attributes }: TraceSpan): string {
  return labelText(attributes['gen_ai.agent.name'])
}

function modelOf({ attributes }: TraceSpan): string {
  return labelText(attributes['gen_ai.request.model'])
}

function shortState(state: string): string {
  return state.replace('TASK_STATE_', '').toLowerCase()
}

function labelText(value: unknown): string {
  return typeof value === 'string' ? value : '-'
}
