/** The metrics of the hub: requests, tasks, streams, webhooks, agents, the store, and what agents report (T-12). */
import { isTerminal, type Store, type StreamEvent } from '@parley/a2a'
import { clockOf } from '@parley/a2a/server'
import type { RequestOutcome, EventContext, HandlerReaders, PushResult } from '@parley/a2a/server'
import type { ConnectionCounts } from '@parley/a2a/node'
import type { TraceSpan } from '../traces/trace-types.ts'
import { createMetricRegistry, type MetricInfo, type MetricRegistry, type Sample } from './metric-registry.ts'

export interface HubMetrics {
  readonly registry: MetricRegistry
  onAnswer(answered: RequestOutcome): void
  onEvent(event: StreamEvent, about: EventContext): void
  onPush(news: PushResult): void
  onStore(operation: string, seconds: number, isOk: boolean): void
  /** A span of a trace has ended; reported by the one process that reads the log. */
  onSpan(span: TraceSpan): void
}

export interface HubMetricsDeps {
  readonly store: Pick<Store, 'tasks'>
  streams(): number
  /** `undefined` until the server is open. */
  readers(): HandlerReaders | undefined
  connections(): ConnectionCounts | undefined
  hasAgent(name: string): boolean
  agents(): readonly AgentUpSample[]
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

const metric = (name: string, otel: string, unit: string, labels: readonly string[], help: string): MetricInfo => ({
  name: name.startsWith('gen_ai') ? name : `parley_${name}`,
  otel: otel.startsWith('gen_ai') ? otel : `parley.${otel}`,
  unit,
  labels,
  help,
})

export function createHubMetrics(parts: HubMetricsDeps): HubMetrics {
  const registry = createMetricRegistry()
  const ofRequest = ['agent', 'operation', 'outcome', 'binding', 'version']
  const requests = registry.counter(
    metric('requests_total', 'requests', '{request}', ofRequest, 'Requests to agents, by outcome.'),
  )
  const latency = registry.histogram(
    metric(
      'request_duration_seconds',
      'request.duration',
      's',
      ['agent', 'operation', 'binding'],
      'Time until the response; for a stream, until its first event.',
    ),
    latencyBuckets,
  )
  const started = registry.counter(metric('tasks_started_total', 'tasks.started', '{task}', ['agent'], 'Tasks opened.'))
  const ended = registry.counter(
    metric('tasks_ended_total', 'tasks.ended', '{task}', ['agent', 'state'], 'Ended tasks, by final state.'),
  )
  const taskTime = registry.histogram(
    metric('task_duration_seconds', 'task.duration', 's', ['agent', 'state'], 'From the start of a task to its end.'),
    latencyBuckets,
  )
  const turnTime = registry.histogram(
    metric('turn_duration_seconds', 'turn.duration', 's', ['agent', 'outcome'], 'Duration of turns.'),
    latencyBuckets,
  )
  const hopTime = registry.histogram(
    metric(
      'hop_duration_seconds',
      'hop.duration',
      's',
      ['agent', 'outcome'],
      'Calls of other agents, by calling agent.',
    ),
    latencyBuckets,
  )
  const toolTime = registry.histogram(
    metric('tool_duration_seconds', 'tool.duration', 's', ['tool', 'outcome'], 'Tool calls.'),
    latencyBuckets,
  )
  const modelTime = registry.histogram(
    metric(
      'gen_ai_client_operation_duration_seconds',
      'gen_ai.client.operation.duration',
      's',
      ['gen_ai.request.model', 'gen_ai.operation.name', 'error.type'],
      'Model calls.',
    ),
    modelLatencyBuckets,
  )
  const tokens = registry.histogram(
    metric(
      'gen_ai_client_token_usage',
      'gen_ai.client.token.usage',
      '{token}',
      ['gen_ai.request.model', 'gen_ai.token.type'],
      'Tokens of one model call.',
    ),
    tokenBuckets,
  )
  const cost = registry.counter(
    metric('model_cost_total', 'model.cost', '1', ['model'], 'Cost of model calls, by the configured prices.'),
  )
  const pushes = registry.counter(
    metric('push_attempts_total', 'push.attempts', '{attempt}', ['outcome'], 'Delivery attempts to webhooks.'),
  )
  const dead = registry.counter(
    metric('push_dead_total', 'push.dead', '{webhook}', [], 'Webhooks whose delivery failed permanently.'),
  )
  const lag = registry.histogram(
    metric('push_lag_seconds', 'push.lag', 's', [], 'From an event to its delivery to a webhook.'),
    latencyBuckets,
  )
  const storeTime = registry.histogram(
    metric('store_duration_seconds', 'store.duration', 's', ['operation'], 'Store calls.'),
    storeBuckets,
  )
  const storeErrors = registry.counter(
    metric('store_errors_total', 'store.errors', '{error}', ['operation'], 'Failed store calls.'),
  )
  registry.gauge(metric('tasks', 'tasks', '{task}', ['state'], 'Tasks in the store, by their state.'), taskStates())
  registry.gauge(metric('streams_open', 'streams.open', '{stream}', [], 'Open streams.'), () => [
    { labels: [], value: parts.streams() },
  ])
  const ofReaders = (value: (readers: HandlerReaders) => number) => (): readonly Sample[] => {
    const readers = parts.readers()
    return readers === undefined ? [] : [{ labels: [], value: value(readers) }]
  }
  registry.gauge(
    metric('readers_unsent_bytes', 'readers.unsent', 'By', [], 'Bytes held for clients that have not read them.'),
    ofReaders(({ unsentBytes }) => unsentBytes),
  )
  registry.gauge(
    metric(
      'readers_paused',
      'readers.paused',
      '{reader}',
      [],
      'Clients that wait because of limits.unsent or unsentPerCaller.',
    ),
    ofReaders(({ paused }) => paused),
  )
  registry.externalCounter(
    metric('readers_cut_total', 'readers.cut', '{reader}', [], 'Clients disconnected because they read nothing.'),
    ofReaders(({ disconnected }) => disconnected),
  )
  registry.externalCounter(
    metric('log_pages_read_total', 'log.pages.read', '{page}', [], 'Pages of task logs read from the store.'),
    ofReaders(({ pagesRead }) => pagesRead),
  )
  registry.externalCounter(
    metric(
      'log_pages_shared_total',
      'log.pages.shared',
      '{page}',
      [],
      'Pages of task logs that several streams shared.',
    ),
    ofReaders(({ pagesShared }) => pagesShared),
  )
  const ofConnections = (value: (counts: ConnectionCounts) => number) => (): readonly Sample[] => {
    const counts = parts.connections()
    return counts === undefined ? [] : [{ labels: [], value: value(counts) }]
  }
  registry.gauge(
    metric('connections_open', 'connections.open', '{connection}', [], 'Open connections of HTTP and gRPC.'),
    ofConnections(({ open }) => open),
  )
  registry.externalCounter(
    metric('connections_refused_total', 'connections.refused', '{connection}', [], 'Refused because of a limit.'),
    ofConnections(({ refused }) => refused),
  )
  registry.externalCounter(
    metric('connections_dropped_total', 'connections.dropped', '{connection}', [], 'Idle ones closed for new ones.'),
    ofConnections(({ dropped }) => dropped),
  )
  registry.gauge(metric('agent_up', 'agent.up', '1', ['agent', 'kind'], 'Whether an agent is available: 1 or 0.'), () =>
    parts.agents().map(({ name, kind, isUp }) => ({ labels: [name, kind], value: isUp ? 1 : 0 })),
  )
  registry.gauge(
    metric(
      'queue_waiting',
      'queue.waiting',
      '{turn}',
      ['agent'],
      'Turns that wait for a concurrency slot of their agent.',
    ),
    () => parts.queues().map(({ agent, waiting }) => ({ labels: [agent], value: waiting })),
  )
  registry.gauge(
    metric('queue_running', 'queue.running', '{turn}', ['agent'], 'Turns that hold a concurrency slot of their agent.'),
    () => parts.queues().map(({ agent, running }) => ({ labels: [agent], value: running })),
  )

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
    onAnswer({ agent: name, endpoint, operation = endpoint, outcome, binding, version = '-', durationMs }) {
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
