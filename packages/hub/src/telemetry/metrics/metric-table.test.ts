import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryStore, type Struct, type TaskState } from '@parley/a2a'
import type { Store } from '@parley/a2a/stores'
import type { EndedCall } from '@parley/a2a/server'
import type { AgentStatus } from '../../registry/agent-registry.ts'
import { testCall } from '../../auth/testing/test-call.ts'
import type { TraceSpan } from '../traces/trace-types.ts'
import { createHubMetrics, type HubMetricsDeps } from './metric-table.ts'
import { silentLog } from '../testing/traced-server.ts'
import { prometheusText } from './metrics-route.ts'
import { createObserver, observedStore, type Observer } from '../observer.ts'

const answered: EndedCall = {
  ...testCall({}, { agent: 'gpt' }),
  endpoint: 'call',
  operation: 'SendMessage',
  binding: 'JSONRPC',
  version: '1.0',
  outcome: 'OK',
  status: 200,
  durationMs: 12.5,
}

function open(store: Pick<Store, 'tasks'> = memoryStore()) {
  let now = 0
  const agents = new Map([
    ['gpt', { kind: 'openai', state: 'open' }],
    ['bot', { kind: 'openclaw', state: 'unavailable' }],
  ])
  // Rows whose source is missing have no values.
  const sources: Partial<HubMetricsDeps> = {
    store,
    secretProviders: () => [{ provider: 'vault', stale: 2 }],
    streams: () => 3,
    readers: () => ({ unsentBytes: 5, paused: 6, disconnected: 7, pagesRead: 8, pagesShared: 9, stalled() {} }),
    connections: () => ({ open: 10, refused: 11, dropped: 12 }),
    agents: () => ({
      names: () => [...agents.keys()],
      has: (name) => agents.has(name),
      status: (name) => ({ name, ...agents.get(name) }) as AgentStatus,
    }),
    endedTasks: async () => new Map([['gpt', { ended: 6, failed: 4, isFailing: true }]]),
    queues: () => [{ agent: 'gpt', waiting: 2, running: 1 }],
    now: () => now,
  }
  const observer = createObserver({ hasAgent: (name) => name === 'gpt', log: silentLog })
  const metrics = createHubMetrics({ ...sources, observer } as HubMetricsDeps)
  const lines = async () => prometheusText(await metrics.collect()).split('\n')
  return { observer, lines, later: (ms: number) => (now += ms) }
}

const span = (kind: TraceSpan['kind'], attributes: Struct, outcome: 'ok' | 'error' = 'ok'): TraceSpan => ({
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  taskId: 't',
  name: 'x',
  kind,
  startedAt: 1_000,
  endedAt: 3_000,
  outcome,
  attributes,
  events: [],
  droppedEvents: 0,
  isSampled: true,
})

const observeSpan = ({ observe }: Observer, ended: TraceSpan): void =>
  observe('span', { span: ended, agent: 'gpt', owner: 'ann' })

describe('what the hub counts', () => {
  it('is every request: by agent, operation, outcome, binding and version, and how long it took [B-171 T-12]', async () => {
    const { observer, lines } = open()
    observer.onOutcome(answered)
    observer.onOutcome(answered)
    observer.onOutcome({ ...answered, outcome: 'RATE_LIMITED', binding: 'GRPC' })
    const { operation: _, version: _version, ...card } = answered
    observer.onOutcome({ ...card, endpoint: 'card' })
    const shown = await lines()
    const counted = (operation: string, outcome: string, binding: string, version: string) =>
      `parley_requests_total{agent="gpt",operation="${operation}",outcome="${outcome}",binding="${binding}",version="${version}"}`
    assert.ok(shown.includes(`${counted('SendMessage', 'OK', 'JSONRPC', '1.0')} 2`))
    assert.ok(shown.includes(`${counted('SendMessage', 'RATE_LIMITED', 'GRPC', '1.0')} 1`))
    assert.ok(shown.includes(`${counted('card', 'OK', 'JSONRPC', '-')} 1`))
    const latency = 'parley_request_duration_seconds_bucket{agent="gpt",operation="SendMessage",binding="JSONRPC"'
    assert.ok(shown.includes(`${latency},le="0.01"} 0`) && shown.includes(`${latency},le="0.025"} 2`))
  })

  it('has no series for unknown agent names from requests: their number is unbounded', async () => {
    const { observer, lines } = open()
    for (let n = 0; n < 50; n += 1) observer.onOutcome({ ...answered, agent: `guess-${n}` })
    const shown = (await lines()).filter((line) => line.startsWith('parley_requests_total{'))
    assert.deepEqual(shown.length, 1)
    assert.match(shown[0] ?? '', /agent="-".* 50$/)
  })

  it('is tasks that begin and end, once each, whatever is said in between [T-12]', async () => {
    const { observer, lines } = open()
    const about = { agent: 'gpt', tenant: '', owner: 'ann', taskId: 't', contextId: 'c', seq: 1 }
    for (const state of ['SUBMITTED', 'WORKING', 'WORKING', 'COMPLETED']) {
      const status = { state: `TASK_STATE_${state}` as TaskState }
      observer.onEvent({ statusUpdate: { taskId: 't', contextId: 'c', status } }, about)
    }
    observer.onEvent(
      { artifactUpdate: { taskId: 't', contextId: 'c', artifact: { artifactId: 'a', parts: [] } } },
      about,
    )
    const shown = await lines()
    assert.ok(shown.includes('parley_tasks_started_total{agent="gpt"} 1'))
    assert.ok(shown.includes('parley_tasks_ended_total{agent="gpt",state="completed"} 1'))
  })

  it('is tasks by their state as the store has them, not asked for more often than need be', async () => {
    let asked = 0
    const countStates = async () => {
      asked += 1
      return [{ state: 'TASK_STATE_INPUT_REQUIRED' as const, tasks: 4 }]
    }
    const { lines, later } = open({ tasks: { ...memoryStore().tasks, countStates } })
    assert.ok((await lines()).includes('parley_tasks{state="input_required"} 4'))
    await lines()
    assert.equal(asked, 1)
    later(10_000)
    await lines()
    assert.equal(asked, 2)
  })

  it('is streams, agents and queues as they are now', async () => {
    const shown = await open().lines()
    for (const line of [
      'parley_streams_open 3',
      'parley_readers_unsent_bytes 5',
      'parley_readers_paused 6',
      'parley_readers_cut_total 7',
      'parley_log_pages_read_total 8',
      'parley_log_pages_shared_total 9',
      'parley_connections_open 10',
      'parley_connections_refused_total 11',
      'parley_connections_dropped_total 12',
      'parley_agent_up{agent="gpt",kind="openai"} 1',
      'parley_agent_up{agent="bot",kind="openclaw"} 0',
      'parley_agent_failing{agent="gpt",kind="openai"} 1',
      'parley_agent_failing{agent="bot",kind="openclaw"} 0',
      'parley_queue_waiting{agent="gpt"} 2',
      'parley_queue_running{agent="gpt"} 1',
      'parley_secrets_stale{provider="vault"} 2',
    ]) {
      assert.ok(shown.includes(line), line)
    }
  })

  it('counts webhook deliveries, their delay, and dead letters', async () => {
    const { observer, lines } = open()
    const news = { agent: 'a', taskId: 't', configId: 'c', seq: 2, attempt: 1, detail: '', at: 0, durationMs: 5 }
    observer.observe('push', { ...news, outcome: 'failed', lagMs: 10 })
    observer.observe('push', { ...news, outcome: 'delivered', lagMs: 1_500 })
    observer.observe('push', { ...news, outcome: 'dead' })
    const shown = await lines()
    for (const line of [
      'parley_push_attempts_total{outcome="failed"} 1',
      'parley_push_attempts_total{outcome="delivered"} 1',
      'parley_push_dead_total 1',
      'parley_push_lag_seconds_sum 1.5',
      'parley_push_lag_seconds_count 1',
    ]) {
      assert.ok(shown.includes(line), line)
    }
  })

  it('is what agents did: tasks, turns, calls of agents, tools and models, with tokens and cost', async () => {
    const { observer, lines } = open()
    observeSpan(observer, span('task', { 'gen_ai.agent.name': 'gpt', state: 'TASK_STATE_FAILED' }, 'error'))
    observeSpan(observer, span('turn', { 'gen_ai.agent.name': 'gpt' }))
    observeSpan(observer, span('hop', { agent: 'bot' }))
    observeSpan(observer, span('tool', { 'gen_ai.tool.name': 'search' }, 'error'))
    observeSpan(
      observer,
      span('model', {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'm',
        'gen_ai.usage.input_tokens': 100,
        'gen_ai.usage.output_tokens': 7,
        'gen_ai.usage.cost': 0.25,
      }),
    )
    const shown = await lines()
    for (const line of [
      'parley_task_duration_seconds_sum{agent="gpt",state="failed"} 2',
      'parley_turn_duration_seconds_count{agent="gpt",outcome="ok"} 1',
      'parley_hop_duration_seconds_count{agent="bot",outcome="ok"} 1',
      'parley_tool_duration_seconds_count{tool="search",outcome="error"} 1',
      'gen_ai_client_operation_duration_seconds_sum{gen_ai_request_model="m",gen_ai_operation_name="chat",error_type=""} 2',
      'gen_ai_client_token_usage_sum{gen_ai_request_model="m",gen_ai_token_type="input"} 100',
      'gen_ai_client_token_usage_sum{gen_ai_request_model="m",gen_ai_token_type="output"} 7',
      'parley_model_cost_total{model="m"} 0.25',
    ]) {
      assert.ok(shown.includes(line), line)
    }
  })

  it('is how long the store takes, and how often it fails', async () => {
    const { observer, lines } = open()
    const store = observedStore(memoryStore(), observer)
    await store.tasks.load('missing')
    await store.close()
    await assert.rejects(store.tasks.load('missing'))
    const shown = await lines()
    assert.ok(shown.includes('parley_store_duration_seconds_count{operation="load"} 2'))
    assert.ok(shown.includes('parley_store_errors_total{operation="load"} 1'))
  })
})
