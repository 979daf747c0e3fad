import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryStore, type StreamEvent } from '@parley/a2a'
import type { FullStore, KeyValueStore } from '@parley/a2a/stores'
import { openHistory, type ObservedHistory } from '../testing/observed-history.ts'
import { statsKind, type StatsHistory, type StatsHistoryDeps } from './stats-history.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
/** The start of an hour and of a day in UTC. */
const midnight = 20_000 * day

interface World {
  at: number
  streams: number
  readonly store: FullStore
  /** Another process on the same store. */
  open(more?: Partial<StatsHistoryDeps>): ObservedHistory
}

function createWorld(): World {
  const begin = midnight + 12 * hour
  let clock = (): number => begin
  const world: World = {
    at: begin,
    streams: 0,
    store: memoryStore({ now: () => clock() }),
    open: (more = {}) =>
      openHistory({
        kv: world.store.kv,
        now: () => world.at,
        hasAgent: (name) => name === 'a' || name === 'b',
        streams: () => world.streams,
        ...more,
      }),
  }
  clock = () => world.at
  return world
}

const answered = (more: object = {}) => ({
  agent: 'a',
  endpoint: 'call' as const,
  operation: 'SendMessage' as const,
  outcome: 'OK' as const,
  durationMs: 10,
  ...more,
})
const reached = (state: string) => ({ statusUpdate: { status: { state } } }) as unknown as StreamEvent
const last = async (history: StatsHistory, agent?: string) => (await history.series('1h', agent)).steps.at(-1)

describe('the statistics of the hub', () => {
  it('count requests, calls, errors, tasks, tokens and cost by agent and for the hub', async () => {
    const world = createWorld()
    const history = world.open()
    for (let n = 0; n < 98; n += 1) history.onOutcome(answered())
    history.onOutcome(answered({ agent: 'b', durationMs: 5_000 }))
    history.onOutcome(answered({ outcome: 'INTERNAL', durationMs: 5_000 }))
    history.onOutcome(answered({ operation: 'GetTask', durationMs: 60_000 }))
    history.onOutcome(answered({ outcome: 'INVALID_PARAMS' }))
    history.onOutcome(answered({ endpoint: 'card', operation: undefined }))
    history.onEvent(reached('TASK_STATE_SUBMITTED'), { agent: 'a', owner: 'anonymous' })
    history.onEvent(reached('TASK_STATE_FAILED'), { agent: 'a', owner: 'anonymous' })
    history.onEvent(reached('TASK_STATE_SUBMITTED'), { agent: 'b', owner: 'agent:a|anonymous' })
    const usage = { 'gen_ai.usage.input_tokens': 10, 'gen_ai.usage.output_tokens': 2, 'gen_ai.usage.cost': 0.5 }
    history.onSpan({ kind: 'model', attributes: usage }, 'a', 'anonymous')
    history.onSpan({ kind: 'task', attributes: usage }, 'a', 'anonymous')
    const { at, ...hub } = (await last(history)) ?? { at: 0 }
    assert.equal(at, world.at)
    assert.deepEqual(hub, {
      ...{ requests: 103, calls: 101, errors: 1, tasks: 2, failed: 1, streams: 0 },
      ...{ inputTokens: 10, outputTokens: 2, cost: 0.5, p50Ms: 10.3, p95Ms: 10.3, p99Ms: 5_065.8 },
    })
    const b = await last(history, 'b')
    assert.deepEqual([b?.requests, b?.calls, b?.tasks, b?.failed], [2, 2, 1, 0])
    assert.deepEqual((await history.usage()).get('a'), { calls: 99, errors: 2, lastUsedAt: world.at })
    assert.deepEqual((await history.usage()).get('b'), { calls: 2, errors: 0, lastUsedAt: world.at })
  })

  it('ignore tokens and costs that are negative or not finite', async () => {
    const world = createWorld()
    const history = world.open()
    const report = (input: number, output: number, cost: number) =>
      history.onSpan(
        {
          kind: 'model',
          attributes: {
            'gen_ai.usage.input_tokens': input,
            'gen_ai.usage.output_tokens': output,
            'gen_ai.usage.cost': cost,
          },
        },
        'a',
        'anonymous',
      )
    report(1.6, -1e9, -1)
    report(Number.NaN, Number.POSITIVE_INFINITY, Number.NaN)
    const first = await last(history, 'a')
    assert.deepEqual([first?.inputTokens, first?.outputTokens, first?.cost], [2, 0, undefined])
    report(10, 3, 1e308)
    report(10, 3, 1e308)
    await history.close()
    const restarted = await last(world.open(), 'a')
    assert.deepEqual([restarted?.inputTokens, restarted?.outputTokens], [22, 6])
    assert.ok(Number.isFinite(restarted?.cost) && (restarted?.cost ?? 0) <= 2e12)
  })

  it('have no series for unknown agent names from requests: their number is unbounded', async () => {
    const world = createWorld()
    const history = world.open()
    history.onOutcome(answered({ agent: 'c' }))
    history.onOutcome(answered({ agent: '*' }))
    assert.equal((await last(history, 'c'))?.requests, 0)
    const hub = await last(history)
    assert.deepEqual([hub?.requests, hub?.calls, hub?.p50Ms], [2, 2, 10.3])
    await history.flush()
    const rows = await world.store.kv.list(statsKind, { limit: 100 })
    assert.deepEqual(
      rows.map(({ key }) => key.split('/').slice(0, 2).join('/')),
      ['five-minutes/*', 'hour/*', 'minute/*'],
    )
  })

  it('are added up in coarser steps for longer ranges, and expire', async () => {
    const world = createWorld()
    const history = world.open()
    for (let n = 0; n < 26; n += 1) {
      history.onOutcome(answered())
      world.at += hour
      await history.flush()
    }
    world.at -= hour
    const total = async (range: '1h' | '24h' | '7d' | '30d') => {
      const { steps, stepMs, totals } = await history.series(range, 'a')
      assert.equal(
        totals.requests,
        steps.reduce((sum, { requests }) => sum + requests, 0),
      )
      return [steps.length, stepMs, totals.requests]
    }
    assert.deepEqual(await total('1h'), [60, minute, 1])
    assert.deepEqual(await total('24h'), [288, 5 * minute, 24])
    assert.deepEqual(await total('7d'), [168, hour, 26])
    assert.deepEqual(await total('30d'), [180, 4 * hour, 26])
    world.at += 32 * day
    await world.store.prune({ batch: 100_000 })
    const rows = await world.store.kv.list(statsKind, { limit: 1_000 })
    assert.deepEqual(
      rows.map(({ key }) => key),
      ['last-used/a'],
    )
    assert.equal((await history.usage()).get('a')?.calls, 0)
  })

  it('are written once per interval, and not while nothing happens', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const world = createWorld()
    let writes = 0
    const kv: KeyValueStore = {
      ...world.store.kv,
      writeAll(kind, rows) {
        writes += 1
        return world.store.kv.writeAll(kind, rows)
      },
    }
    const history = world.open({ kv })
    history.onOutcome(answered())
    history.onOutcome(answered())
    t.mock.timers.tick(9_999)
    assert.equal(writes, 0)
    t.mock.timers.tick(1)
    await history.flush()
    assert.equal(writes, 1)
    t.mock.timers.tick(60_000)
    await history.flush()
    assert.equal(writes, 1)
  })

  it('survive a restart, and a kill without the last interval', async () => {
    const world = createWorld()
    const first = world.open()
    first.onOutcome(answered())
    await first.close()
    const second = world.open()
    second.onOutcome(answered())
    await second.flush()
    // Not written: this process ends here.
    second.onOutcome(answered())
    world.at += minute
    const third = world.open()
    third.onOutcome(answered({ outcome: 'UNAVAILABLE' }))
    const { steps, totals } = await third.series('1h', 'a')
    assert.deepEqual(
      steps.slice(-2).map(({ requests }) => requests),
      [2, 1],
    )
    assert.deepEqual([totals.requests, totals.errors], [3, 1])
    assert.deepEqual((await third.usage()).get('a'), { calls: 3, errors: 1, lastUsedAt: world.at })
  })

  it('know which agents fail: of 5 tasks that ended in the last 15 minutes more than 20 % failed', async () => {
    const world = createWorld()
    const end = (history: ObservedHistory, agent: string, ...states: readonly string[]): void => {
      for (const state of states) history.onEvent(reached(`TASK_STATE_${state}`), { agent, owner: 'anonymous' })
    }
    const first = world.open()
    end(first, 'a', 'FAILED', 'FAILED', 'COMPLETED', 'WORKING')
    end(first, 'b', 'COMPLETED', 'COMPLETED', 'COMPLETED', 'COMPLETED', 'FAILED')
    await first.close()
    // After a restart, and on a replica.
    const [second, replica] = [world.open(), world.open()]
    assert.deepEqual((await second.endedTasks()).get('a'), { ended: 3, failed: 2, isFailing: false })
    world.at += 10 * minute
    end(second, 'a', 'CANCELED', 'COMPLETED')
    assert.deepEqual((await second.endedTasks()).get('a'), { ended: 5, failed: 2, isFailing: true })
    assert.deepEqual((await second.endedTasks()).get('b'), { ended: 5, failed: 1, isFailing: false })
    await second.flush()
    assert.equal((await replica.endedTasks()).get('a')?.isFailing, true)
    world.at += 5 * minute
    assert.deepEqual((await replica.endedTasks()).get('a'), { ended: 2, failed: 0, isFailing: false })
    assert.equal((await second.endedTasks()).get('b'), undefined)
  })

  it('are the sum of all replicas, whichever is asked', async () => {
    const world = createWorld()
    const [one, two] = [world.open(), world.open()]
    for (const history of [one, two, two]) history.onOutcome(answered())
    await Promise.all([one.flush(), two.flush()])
    for (const history of [one, two]) {
      assert.equal((await last(history, 'a'))?.requests, 3)
      assert.equal((await history.usage()).get('a')?.calls, 3)
    }
  })

  it('have the most streams that were open at a time: of all replicas, but not before and after a restart', async () => {
    const world = createWorld()
    const streaming = answered({ operation: 'SendStreamingMessage' })
    const one = world.open({ streams: () => world.streams })
    const two = world.open({ streams: () => 4 })
    world.streams = 3
    one.onOutcome(streaming)
    two.onOutcome(streaming)
    await Promise.all([one.flush(), two.flush()])
    world.at += 1_000
    const restarted = world.open({ streams: () => 5 })
    restarted.onOutcome(streaming)
    assert.equal((await last(restarted))?.streams, 7)
  })

  it('measure streams that stay open while nothing else happens', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const world = createWorld()
    const history = world.open()
    world.streams = 2
    history.onOutcome(answered({ operation: 'SubscribeToTask' }))
    for (let n = 0; n < 3; n += 1) {
      world.at += minute
      t.mock.timers.tick(10_000)
      await history.flush()
    }
    world.streams = 0
    world.at += minute
    const { steps } = await history.series('1h', 'a')
    assert.deepEqual(
      steps.slice(-5).map(({ streams }) => streams),
      [2, 2, 2, 2, 0],
    )
  })

  it('are kept until the store can be written again', async () => {
    const world = createWorld()
    const warnings: string[] = []
    let isDown = true
    const kv: KeyValueStore = {
      ...world.store.kv,
      writeAll: (kind, rows) => (isDown ? Promise.reject(new Error('disk full')) : world.store.kv.writeAll(kind, rows)),
    }
    const history = world.open({ kv, log: { warn: (message) => void warnings.push(message) } })
    for (let n = 0; n < 3; n += 1) {
      history.onOutcome(answered())
      await history.flush()
      world.at += minute
    }
    assert.equal(warnings.length, 1)
    isDown = false
    await history.close()
    assert.equal((await world.open().series('1h', 'a')).totals.requests, 3)
  })

  it('lose nothing when the clock is set back', async () => {
    const world = createWorld()
    const history = world.open()
    for (let n = 0; n < 3; n += 1) {
      history.onOutcome(answered())
      await history.flush()
      world.at += minute
    }
    world.at -= 3 * minute
    history.onOutcome(answered())
    await history.close()
    world.at += 3 * minute
    const { steps } = await world.open().series('1h', 'a')
    assert.deepEqual(
      steps.slice(-4).map(({ requests }) => requests),
      [2, 1, 1, 0],
    )
  })

  it('of 200 agents are read with a few rows', async () => {
    const world = createWorld()
    const reads: number[] = []
    const kv: KeyValueStore = {
      ...world.store.kv,
      async list(kind, query) {
        const rows = await world.store.kv.list(kind, query)
        reads.push(rows.length)
        return rows
      },
    }
    const history = world.open({ kv, hasAgent: () => true })
    for (let n = 0; n < 3; n += 1) {
      for (let agent = 0; agent < 200; agent += 1) history.onOutcome(answered({ agent: `agent-${agent}` }))
      await history.flush()
      world.at += 5 * minute
    }
    const usage = await history.usage()
    assert.equal(usage.size, 200)
    assert.equal(usage.get('agent-7')?.calls, 3)
    assert.deepEqual(reads, [3, 200])
  })
})
