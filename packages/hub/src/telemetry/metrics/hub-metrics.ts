/** The metrics of the hub: requests, tasks, streams, webhooks, agents, the store, and what agents report (T-12). */
import { isTerminal, type StreamEvent } from '@parley/a2a'
import type { Store } from '@parley/a2a/stores'
import { clockOf, type HandlerReaders, type PushResult, type ConnectionCounts } from '@parley/a2a/internal'
import type { CallOutcome, EventContext } from '@parley/a2a/server'
import type { AuditExportStatus } from '../../audit/audit-export.ts'
import type { SecretProviderStatus } from '../../config/secrets/secret-cache.ts'
import type { EndedTasks } from '../stats/stats-history.ts'
import type { StoreReport } from '../store/store-monitor.ts'
import type { TraceSpan } from '../traces/trace-types.ts'
import { createMetricRegistry } from './metric-registry.ts'
import type { Gauge, MetricRegistry, Sample } from './metric-registry.ts'
import { metric } from './metric-name.ts'
import { addStoreMetrics } from './store-metrics.ts'

export interface HubMetrics {
  readonly registry: MetricRegistry
  onOutcome(answered: CallOutcome): void
  onEvent(event: StreamEvent, about: EventContext): void
  onPush(news: PushResult): void
  onStore(operation: string, seconds: number, isOk: boolean): void
  /** A span of a trace has ended; reported by the one process that reads the log. */
  onSpan(span: TraceSpan): void
}

export interface HubMetricsDeps {
  readonly store: Pick<Store, 'tasks'>
  storeReport(): Promise<StoreReport | undefined>
  auditExports(): Promise<readonly AuditExportStatus[]>
  secretProviders(): readonly SecretProviderStatus[]
  streams(): number
  /** `undefined` until the server is open. */
  readers(): Omit<HandlerReaders, 'openMemory'> | undefined
  connections(): ConnectionCounts | undefined
  hasAgent(name: string): boolean
  agents(): readonly AgentUpSample[]
  endedTasks(): Promise<ReadonlyMap<string, EndedTasks>>
  queues(): readonly { readonly agent: string; readonly waiting: number; readonly running: number }[]
  readonly now: () => number
  /** Default: `now`. */
  readonly monotonicNow?: () => number
}

export interface AgentUpSample {
  readonly name: string
  readonly kind: string
  readonly isUp: boolean
}

const latencyBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
const storeBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]
/** From the OpenTelemetry conventions for generative AI. */
const modelLatencyBuckets = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
const tokenBuckets = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304]
/** Counting all tasks of a large store takes a moment, so the result is cached. */
const stateCountCacheMs = 10_000

type MetricArguments = [otel: string, unit: string, labels: readonly string[], help: string]

export function createHubMetrics(parts: HubMetricsDeps): HubMetrics {
  const registry = createMetricRegistry()
  const counter = (...about: MetricArguments) => registry.counter(metric(...about, '_total'))
  const histogram = (bounds: readonly number[], ...about: MetricArguments) =>
    registry.histogram(metric(...about), bounds)
  const gauge = (look: Gauge, ...about: MetricArguments) => registry.gauge(metric(...about), look)
  const externalCounter = (look: Gauge, ...about: MetricArguments) =>
    registry.externalCounter(metric(...about, '_total'), look)

  const ofRequest = ['agent', 'operation', 'outcome', 'binding', 'version']
  const requests = counter('requests', '{request}', ofRequest, 'Requests to agents, by outcome.')
  const latency = histogram(
    latencyBuckets,
    'request.duration',
    's',
    ['agent', 'operation', 'binding'],
    'Time until the response; for a stream, until its first event.',
  )
  const started = counter('tasks.started', '{task}', ['agent'], 'Tasks opened.')
  const ended = counter('tasks.ended', '{task}', ['agent', 'state'], 'Ended tasks, by final state.')
  const times = (name: string, labels: readonly string[], help: string) =>
    histogram(latencyBuckets, name, 's', labels, help)
  const taskTime = times('task.duration', ['agent', 'state'], 'From the start of a task to its end.')
  const turnTime = times('turn.duration', ['agent', 'outcome'], 'Duration of turns.')
  const hopTime = times('hop.duration', ['agent', 'outcome'], 'Calls of other agents, by calling agent.')
  const toolTime = times('tool.duration', ['tool', 'outcome'], 'Tool calls.')
  const ofModelCall = ['gen_ai.request.model', 'gen_ai.operation.name', 'error.type']
  const modelTime = histogram(modelLatencyBuckets, 'gen_ai.client.operation.duration', 's', ofModelCall, 'Model calls.')
  const ofTokens = ['gen_ai.request.model', 'gen_ai.token.type']
  const tokens = histogram(tokenBuckets, 'gen_ai.client.token.usage', '{token}', ofTokens, 'Tokens of one model call.')
  const cost = counter('model.cost', '1', ['model'], 'Cost of model calls, by the configured prices.')
  const pushes = counter('push.attempts', '{attempt}', ['outcome'], 'Delivery attempts to webhooks.')
  const dead = counter('push.dead', '{webhook}', [], 'Webhooks whose delivery failed permanently.')
  const lag = times('push.lag', [], 'From an event to its delivery to a webhook.')
  const storeTime = histogram(storeBuckets, 'store.duration', 's', ['operation'], 'Store calls.')
  const storeErrors = counter('store.errors', '{error}', ['operation'], 'Failed store calls.')
  gauge(taskStates(), 'tasks', '{task}', ['state'], 'Tasks in the store, by their state.')
  gauge(() => [{ labels: [], value: parts.streams() }], 'streams.open', '{stream}', [], 'Open streams.')

  const ofReaders = (value: (readers: Omit<HandlerReaders, 'openMemory'>) => number) => (): readonly Sample[] => {
    const readers = parts.readers()
    return readers === undefined ? [] : [{ labels: [], value: value(readers) }]
  }
  const unsent = ofReaders(({ unsentBytes }) => unsentBytes)
  gauge(unsent, 'readers.unsent', 'By', [], 'Bytes held for clients that have not read them.')
  const paused = ofReaders((readers) => readers.paused)
  gauge(paused, 'readers.paused', '{reader}', [], 'Clients that wait because of limits.unsent or unsentPerCaller.')
  const cut = ofReaders(({ disconnected }) => disconnected)
  externalCounter(cut, 'readers.cut', '{reader}', [], 'Clients disconnected because they read nothing.')
  const pagesRead = ofReaders((readers) => readers.pagesRead)
  externalCounter(pagesRead, 'log.pages.read', '{page}', [], 'Pages of task logs read from the store.')
  const pagesShared = ofReaders((readers) => readers.pagesShared)
  externalCounter(pagesShared, 'log.pages.shared', '{page}', [], 'Pages of task logs that several streams shared.')

  const ofConnections = (value: (counts: ConnectionCounts) => number) => (): readonly Sample[] => {
    const counts = parts.connections()
    return counts === undefined ? [] : [{ labels: [], value: value(counts) }]
  }
  const open = ofConnections((counts) => counts.open)
  gauge(open, 'connections.open', '{connection}', [], 'Open connections of HTTP and gRPC.')
  const refused = ofConnections((counts) => counts.refused)
  externalCounter(refused, 'connections.refused', '{connection}', [], 'Refused because of a limit.')
  const dropped = ofConnections((counts) => counts.dropped)
  externalCounter(dropped, 'connections.dropped', '{connection}', [], 'Idle ones closed for new ones.')

  const up: Gauge = () => parts.agents().map(({ name, kind, isUp }) => ({ labels: [name, kind], value: isUp ? 1 : 0 }))
  gauge(up, 'agent.up', '1', ['agent', 'kind'], 'Whether an agent is available: 1 or 0.')
  const failing = async (): Promise<readonly Sample[]> => {
    const ended = await parts.endedTasks()
    const isFailing = (name: string): number => (ended.get(name)?.isFailing === true ? 1 : 0)
    return parts.agents().map(({ name, kind }) => ({ labels: [name, kind], value: isFailing(name) }))
  }
  const failingHelp = 'Whether too many tasks of an agent failed in the last 15 minutes: 1 or 0.'
  gauge(failing, 'agent.failing', '1', ['agent', 'kind'], failingHelp)
  const waiting: Gauge = () => parts.queues().map((queue) => ({ labels: [queue.agent], value: queue.waiting }))
  gauge(waiting, 'queue.waiting', '{turn}', ['agent'], 'Turns that wait for a concurrency slot of their agent.')
  const running: Gauge = () => parts.queues().map((queue) => ({ labels: [queue.agent], value: queue.running }))
  gauge(running, 'queue.running', '{turn}', ['agent'], 'Turns that hold a concurrency slot of their agent.')

  addStoreMetrics(registry, parts.storeReport)
  const ofExports = (value: (status: AuditExportStatus) => number) => async (): Promise<readonly Sample[]> =>
    (await parts.auditExports()).map((status) => ({ labels: [status.name], value: value(status) }))
  const exportLag = ofExports(({ lagMs }) => lagMs / 1_000)
  gauge(exportLag, 'audit.export.lag', 's', ['sink'], 'How long the oldest audit entry waits for its export.')
  const exportedEntries = ofExports(({ exported }) => exported)
  externalCounter(exportedEntries, 'audit.export.entries', '{entry}', ['sink'], 'Exported audit entries.')
  const exportFailures = ofExports(({ failures }) => failures)
  externalCounter(exportFailures, 'audit.export.errors', '{error}', ['sink'], 'Failed attempts to export the audit.')

  const staleSecrets: Gauge = () =>
    parts.secretProviders().map(({ provider, stale }) => ({ labels: [provider], value: stale }))
  const staleHelp = 'Secrets that their provider failed to read again: their last value is in use.'
  gauge(staleSecrets, 'secrets.stale', '{secret}', ['provider'], staleHelp)

  function taskStates(): () => Promise<readonly Sample[]> {
    let agentLabel: Promise<readonly Sample[]> | undefined
    let until = -Infinity
    const { monotonicNow } = clockOf(parts)
    return () => {
      if (agentLabel === undefined || monotonicNow() >= until) {
        until = monotonicNow() + stateCountCacheMs
        agentLabel = parts.store.tasks
          .countStates()
          .then((counts) => counts.map(({ state, tasks }) => ({ labels: [shortState(state)], value: tasks })))
        agentLabel.catch(() => (until = -Infinity))
      }
      return agentLabel
    }
  }

  /** An unknown agent name from a request gets no series of its own. */
  function agentLabel(agent: string): string {
    return parts.hasAgent(agent) ? agent : '-'
  }

  return {
    registry,
    onOutcome({ agent: name, endpoint, operation = endpoint, outcome, binding, version = '-', durationMs }) {
      const agent = agentLabel(name)
      requests.add([agent, operation, outcome, binding, version])
      latency.observe([agent, operation, binding], durationMs / 1_000)
    },
    onEvent(event, { agent }) {
      if (!('statusUpdate' in event)) return
      const { state } = event.statusUpdate.status
      if (state === 'TASK_STATE_SUBMITTED') started.add([agent])
      else if (isTerminal(state)) ended.add([agent, shortState(state)])
    },
    onPush({ outcome, lagMs }) {
      if (outcome === 'dead') return dead.add([])
      pushes.add([outcome])
      if (outcome === 'delivered' && lagMs !== undefined) lag.observe([], lagMs / 1_000)
    },
    onStore(operation, seconds, isOk) {
      storeTime.observe([operation], seconds)
      if (!isOk) storeErrors.add([operation])
    },
    onSpan(span) {
      const { kind, outcome = 'ok', startedAt, endedAt = startedAt, attributes } = span
      const seconds = (endedAt - startedAt) / 1_000
      const agent = labelText(attributes['gen_ai.agent.name'])
      if (kind === 'task') taskTime.observe([agent, shortState(labelText(attributes['state']))], seconds)
      else if (kind === 'turn') turnTime.observe([agent, outcome], seconds)
      else if (kind === 'hop') hopTime.observe([labelText(attributes['agent']), outcome], seconds)
      else if (kind === 'tool') toolTime.observe([labelText(attributes['gen_ai.tool.name']), outcome], seconds)
      else if (kind === 'model') {
        const model = labelText(attributes['gen_ai.request.model'])
        const error = outcome === 'ok' ? '' : labelText(attributes['error.type'] ?? outcome)
        modelTime.observe([model, labelText(attributes['gen_ai.operation.name']), error], seconds)
        observeTokens('input', attributes['gen_ai.usage.input_tokens'])
        observeTokens('output', attributes['gen_ai.usage.output_tokens'])
        const price = attributes['gen_ai.usage.cost']
        if (typeof price === 'number') cost.add([model], price)

        function observeTokens(type: string, count: unknown): void {
          if (typeof count === 'number') tokens.observe([model, type], count)
        }
      }
    },
  }
}

function shortState(state: string): string {
  return state.replace('TASK_STATE_', '').toLowerCase()
}

function labelText(value: unknown): string {
  return typeof value === 'string' ? value : '-'
}
