import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryStore, type StreamEvent } from '@parley/a2a'
import { eraseCaller } from '../../erase/erase-caller.ts'
import { namespacedKv } from '../../store/namespaced-kv.ts'
import { callersPrefix, createCallerStats } from './caller-stats.ts'
import { openHistory, type ObservedHistory } from '../testing/observed-history.ts'
import { statsKind } from './stats-history.ts'

const hour = 3_600_000
const day = 24 * hour
/** The start of a day in UTC. */
const midnight = 20_000 * day

function createWorld() {
  const clock = { at: midnight + 12 * hour }
  const now = (): number => clock.at
  const store = memoryStore({ now })
  /** A process on this store. */
  const open = (): ObservedHistory => openHistory({ kv: namespacedKv(store.kv, 'telemetry'), now })
  return { clock, store, open }
}

const answered = (id: string, more: object = {}) => ({
  ...{ agent: 'a', endpoint: 'call' as const, operation: 'SendMessage' as const, outcome: 'OK' as const },
  ...{ durationMs: 10, caller: { id }, ...more },
})
const failed = { statusUpdate: { status: { state: 'TASK_STATE_FAILED' } } } as unknown as StreamEvent
const spent = {
  kind: 'model' as const,
  attributes: { 'gen_ai.usage.input_tokens': 10, 'gen_ai.usage.output_tokens': 2, 'gen_ai.usage.cost': 0.5 },
}

describe('the statistics of callers', () => {
  it('count calls, errors, refused requests, tokens and cost, also of what agents do on behalf of a caller', async () => {
    const world = createWorld()
    const history = world.open()
    for (let n = 0; n < 3; n += 1) history.onOutcome(answered('ann'))
    history.onOutcome(answered('ann', { operation: 'GetTask' }))
    history.onOutcome(answered('ann', { outcome: 'INTERNAL' }))
    history.onOutcome(answered('bob', { outcome: 'INVALID_PARAMS' }))
    history.onOutcome(answered('bob', { outcome: 'RATE_LIMITED' }))
    history.onOutcome(answered('bob', { caller: undefined }))
    history.onEvent(failed, { agent: 'a', owner: 'ann' })
    history.onEvent(failed, { agent: 'b', owner: 'agent:a|ann' })
    history.onSpan(spent, 'a', 'ann')
    history.onSpan(spent, 'b', 'agent:b|agent:a|ann')
    history.onSpan({ ...spent, kind: 'task' }, 'a', 'ann')
    assert.deepEqual(await history.callers('24h'), [
      {
        caller: 'ann',
        calls: 4,
        errors: 2,
        refused: 0,
        inputTokens: 20,
        outputTokens: 4,
        cost: 1,
        lastSeenAt: world.clock.at,
      },
      { caller: 'bob', calls: 0, errors: 0, refused: 1, inputTokens: 0, outputTokens: 0, lastSeenAt: world.clock.at },
    ])
  })

  it('survive a restart, are those of all replicas, and expire', async () => {
    const world = createWorld()
    const first = world.open()
    first.onOutcome(answered('ann'))
    await first.close()
    const replicas = [world.open(), world.open()]
    for (const replica of replicas) replica.onOutcome(answered('ann'))
    await Promise.all(replicas.map((replica) => replica.flush()))
    const callsIn = async (range: '24h' | '7d' | '30d') => (await world.open().callers(range))[0]?.calls
    assert.deepEqual([await callsIn('24h'), await callsIn('30d')], [3, 3])
    world.clock.at += day
    assert.deepEqual([await callsIn('24h'), await callsIn('7d')], [undefined, 3])
    world.clock.at += 7 * day
    assert.deepEqual([await callsIn('7d'), await callsIn('30d')], [undefined, 3])
    world.clock.at += 31 * day
    await world.store.prune({ batch: 1_000 })
    assert.deepEqual(await world.store.kv.list(`telemetry/${statsKind}`, { prefix: callersPrefix, limit: 1 }), [])
  })

  it('count all callers after the first thousand of an hour together', async () => {
    let at = midnight
    const stats = createCallerStats({ now: () => at, onCount() {} }, 3)
    for (let n = 0; n < 5; n += 1) stats.onOutcome(`caller ${n}`, true, false)
    stats.onOutcome('caller 0', true, false)
    stats.onOutcome('x'.repeat(2_000), true, false)
    const rows = (): readonly (readonly [string, number])[] =>
      stats
        .changed()
        .filter(({ key }) => key.startsWith(`${callersPrefix}hour/`))
        .map(({ caller, usage }) => [caller, usage.calls])
    const expected = [
      ['caller 0', 2],
      ['caller 1', 1],
      ['caller 2', 1],
      ['', 3],
    ]
    assert.deepEqual(rows(), expected)
    at += hour
    stats.onOutcome('caller 4', true, false)
    assert.deepEqual(rows(), [...expected, ['caller 4', 1]])
  })

  it('are removed by the erasure of the caller, and not written again', async () => {
    const world = createWorld()
    const history = world.open()
    for (const id of ['ann', 'console|ann', 'joann']) history.onOutcome(answered(id))
    await history.flush()
    history.onOutcome(answered('ann'))
    const nothing = async (): Promise<void> => {}
    const hub = {
      ...{ cancel: nothing, forget: nothing, revokeKey: nothing, endSession: nothing, flush: history.flush },
      forgetCaller: async (caller: string) => history.forgetCaller((name) => name.endsWith(caller) && name !== 'joann'),
    }
    const { counters } = await eraseCaller({ store: world.store, hub, now: () => world.clock.at }, 'ann', 'erased:1')
    assert.equal(counters, 4)
    history.onOutcome(answered('joann'))
    for (const range of ['24h', '30d'] as const) {
      const left = await history.callers(range)
      assert.deepEqual(
        left.map(({ caller, calls }) => [caller, calls]),
        [['joann', 2]],
      )
    }
  })

  it('are not counted again for a caller that was erased and calls once more', async () => {
    const world = createWorld()
    const history = world.open()
    history.onOutcome(answered('ann'))
    await history.flush()
    await history.forgetCaller((name) => name === 'ann')
    history.onOutcome(answered('ann'))
    assert.equal((await history.callers('24h'))[0]?.calls, 1)
  })
})
