import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import type { Agent } from '../agents/agent.ts'
import { readTraceparent, spanIdOfPush } from '../model/trace.ts'
import { memoryStore } from '../stores/memory.ts'
import { eventually } from '../testing/engine-fixture.ts'
import type { PushNews } from './contract.ts'
import { asking, broken, createWaiting, ok, openPushHouse, url, withPush, wordsOf } from '../testing/push-fixture.ts'

describe('delivery', () => {
  it('begins the moment something is appended, without waiting for a sweep', async (t) => {
    const { agent, release } = createWaiting()
    const { house, receiver } = await openPushHouse(t, agent, {}, { sweepMs: 60_000 })
    await house.start('go', withPush())
    await eventually(() => wordsOf(receiver.told).at(-1) === 'WORKING')
    release()
    await eventually(() => wordsOf(receiver.told).at(-1) === 'COMPLETED')
  })

  it('tries again until it is delivered, in order, and records every attempt [B-127 B-128]', async (t) => {
    const { house, receiver, desk } = await openPushHouse(t, () => 'done')
    let failures = 2
    receiver.answer = ({ item: { event } }) =>
      'statusUpdate' in event && event.statusUpdate.status.state === 'TASK_STATE_WORKING' && failures-- > 0
        ? broken
        : ok
    const { id } = await house.task('go', withPush())
    await eventually(async () => (await desk.cursors(id))[0]?.state === 'done')
    assert.deepEqual(wordsOf(receiver.told), ['SUBMITTED', 'WORKING', 'WORKING', 'WORKING', 'done', 'COMPLETED'])
    const attempts = (await desk.attempts(id, id, 10)).toReversed()
    assert.deepEqual(
      attempts.map(({ attempt, outcome }) => `${attempt} ${outcome}`),
      ['1 HTTP 204', '1 HTTP 500', '2 HTTP 500', '3 HTTP 204', '1 HTTP 204', '1 HTTP 204'],
    )
    assert.equal(new Set(receiver.told.slice(1, 4).map(({ item }) => item.seq)).size, 1)
  })

  it('ends in a dead letter, and begins again there when it is asked for [B-128]', async (t) => {
    const { house, receiver, desk } = await openPushHouse(t, () => 'done')
    receiver.answer = () => broken
    const { id } = await house.task('go', withPush())
    await eventually(async () => (await desk.cursors(id))[0]?.state === 'dead')
    assert.equal(receiver.told.length, 4)
    assert.ok(
      house.lines.some(({ message, fields }) => /given up/.test(message) && fields?.['host'] === 'hooks.example.com'),
    )
    receiver.answer = () => ok
    receiver.told.length = 0
    assert.equal(await desk.redeliver(id, 'nobody'), false)
    assert.equal(await desk.redeliver(id, id), true)
    await eventually(async () => (await desk.cursors(id))[0]?.state === 'done')
    assert.deepEqual(wordsOf(receiver.told), ['SUBMITTED', 'WORKING', 'done', 'COMPLETED'])
    // All of it once more, for a receiver that lost it.
    await desk.redeliver(id, id, 0)
    await eventually(async () => receiver.told.length === 8)
  })

  it('is told to whoever counts: each try, how long it took, how late it was, and the end of trying', async (t) => {
    const news: PushNews[] = []
    const onNews = (one: PushNews): void => void news.push(one)
    const { house, receiver, desk } = await openPushHouse(t, () => 'done', { onNews })
    receiver.answer = ({ item }) => (item.seq === 2 ? ok : broken)
    const { id } = await house.task('go', withPush())
    await eventually(async () => (await desk.cursors(id))[0]?.state === 'dead')
    assert.deepEqual(
      news.map(({ seq, attempt, outcome }) => `${seq} ${attempt} ${outcome}`),
      ['2 1 delivered', '4 1 failed', '4 2 failed', '4 3 failed', '4 4 failed', '3 4 dead'],
    )
    const tries = news.filter(({ outcome }) => outcome !== 'dead')
    assert.ok(tries.every(({ durationMs, lagMs = -1 }) => durationMs >= 0 && lagMs >= durationMs))
    assert.ok(news.every(({ agent, taskId, configId }) => agent === 'agent' && taskId === id && configId === id))
  })

  it('is in the trace of what it tells, each try as a span that can be found again [B-171]', async (t) => {
    const { house, receiver, desk } = await openPushHouse(t, () => 'done')
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
    const traceparent = `00-${traceId}-00f067aa0ba902b7-00`
    const { id } = await house.task('go', { ...withPush(), as: { ...withPush().as, traceparent } })
    await eventually(async () => (await desk.cursors(id))[0]?.state === 'done')
    const contexts = receiver.told.map((told) => readTraceparent(told.traceparent))
    assert.ok(contexts.every((context) => context?.traceId === traceId && !context.isSampled))
    const attempts = (await desk.attempts(id, id, 10)).toReversed()
    assert.deepEqual(
      contexts.map((context) => context?.spanId),
      attempts.map(({ seq, at }) => spanIdOfPush(id, id, seq, at)),
    )
  })

  it('gives up at once where another try is of no use, and drops who wants no more [B-128]', async (t) => {
    const { house, receiver, desk } = await openPushHouse(t, () => 'done')
    receiver.answer = ({ configId }) =>
      configId === 'gone' ? { outcome: 'gone', said: 'HTTP 410' } : { outcome: 'refused', said: 'HTTP 400' }
    const refused = await house.task('go', withPush())
    await eventually(async () => (await desk.cursors(refused.id))[0]?.state === 'dead')
    const gone = await house.task('go', withPush({ id: 'gone' }))
    await eventually(async () => (await desk.cursors(gone.id)).length === 0)
    assert.equal(receiver.told.length, 2)
  })

  it('that wants no more of it leaves alone what its owner has put in its place meanwhile [B-118 B-128]', async (t) => {
    const store = memoryStore()
    const { house, receiver, desk } = await openPushHouse(t, () => 'done', {}, { store })
    let isReplaced = false
    receiver.answer = async ({ taskId, target }) => {
      if (target.url !== url) return ok
      const row = await store.loadPush(taskId, 'h')
      // By another process, whose replacement does not stop what is under way here.
      if (row !== undefined) await store.savePush({ ...row, config: { ...row.config, url: `${url}/new` } })
      isReplaced = true
      return { outcome: 'gone', said: 'HTTP 410' }
    }
    const { id: taskId } = await house.task('go', withPush({ id: 'h' }))
    await eventually(async () => isReplaced && (await desk.cursors(taskId))[0]?.url === `${url}/new`)
    await sleep(20)
    assert.equal((await desk.cursors(taskId))[0]?.url, `${url}/new`)
  })

  it('waits for as long as the receiver wishes', async (t) => {
    const { house, receiver, desk } = await openPushHouse(t, () => 'done')
    receiver.answer = () => ({ ...broken, retryAfterMs: 3_600_000 })
    const { id } = await house.task('go', withPush())
    await eventually(async () => ((await desk.cursors(id))[0]?.dueAt ?? 0) > Date.now() + 3_000_000)
    assert.equal(receiver.told.length, 1)
  })

  it('that hangs is cut off in time, and delays no other webhook [B-127 B-128]', async (t) => {
    const { house, receiver, desk } = await openPushHouse(t, () => 'done', { timeoutMs: 30, concurrentPerHost: 1 })
    receiver.answer = ({ target, signal }) =>
      target.url === url
        ? new Promise((resolve) => signal.addEventListener('abort', () => resolve({ ...broken, said: 'timed out' })))
        : ok
    const slow = await house.task('go', withPush())
    const quick = await house.task('go', withPush({ url: 'https://quick.example.com/' }))
    await eventually(async () => (await desk.cursors(quick.id))[0]?.state === 'done')
    assert.notEqual((await desk.cursors(slow.id))[0]?.state, 'done')
    await eventually(async () => (await desk.cursors(slow.id))[0]?.state === 'dead')
  })

  it('stops with the deletion: what was on its way is cut off, and nothing is begun [B-118]', async (t) => {
    const { house, receiver, desk } = await openPushHouse(t, () => 'done')
    let aborted = false
    receiver.answer = ({ signal }) =>
      new Promise((resolve) =>
        signal.addEventListener('abort', () => {
          aborted = true
          resolve(broken)
        }),
      )
    const { id: taskId } = await house.task('go', withPush({ id: 'h' }))
    await eventually(() => receiver.told.length === 1)
    await desk.delete({ taskId, id: 'h' }, asking)
    assert.equal(aborted, true)
    await sleep(20)
    assert.equal(receiver.told.length, 1)
    assert.deepEqual(await desk.cursors(taskId), [])
  })

  it('stops with a deletion by another process, too [B-118]', async (t) => {
    const store = memoryStore()
    const { house, receiver } = await openPushHouse(t, () => 'done', {}, { store })
    receiver.answer = async ({ taskId }) => {
      await store.deletePush(taskId, 'h')
      return ok
    }
    await house.task('go', withPush({ id: 'h' }))
    await eventually(() => receiver.told.length === 1)
    await sleep(20)
    assert.equal(receiver.told.length, 1)
  })

  it('of secrets that no key opens is a dead letter, not a notification without them', async (t) => {
    const store = memoryStore()
    const { house, receiver, desk } = await openPushHouse(
      t,
      () => ({ state: 'TASK_STATE_INPUT_REQUIRED' }),
      {},
      { store },
    )
    const { id: taskId } = await house.task('go')
    await desk.create({ taskId, id: 'h', url, token: 't' }, asking)
    const row = await store.loadPush(taskId, 'h')
    assert.ok(row)
    // A copy of the row under another id, as somebody with access to the store could make it.
    await store.savePush({ ...row, id: 'stolen' })
    await house.cancel(taskId)
    await eventually(async () => (await desk.cursors(taskId)).every(({ state }) => state !== 'active'))
    assert.deepEqual(
      (await desk.cursors(taskId)).map(({ id, state }) => `${id} ${state}`),
      ['h done', 'stolen dead'],
    )
    assert.deepEqual(wordsOf(receiver.told), ['CANCELED'])
  })

  it('tells of a failure and of a cancel like of any other end [B-50 B-114]', async (t) => {
    const { house, receiver, desk } = await openPushHouse(t, () => {
      throw new Error('no')
    })
    const { id } = await house.start('go', withPush())
    await eventually(async () => (await desk.cursors(id))[0]?.state === 'done')
    assert.equal(wordsOf(receiver.told).at(-1), 'FAILED')
  })

  it('by several processes is done by one of them [B-127]', async (t) => {
    const store = memoryStore({ leaseTtlMs: 10_000 })
    const agent: Agent = async function* () {
      for (let n = 0; n < 30; n += 1) {
        yield { state: 'TASK_STATE_WORKING' }
        await turn()
      }
    }
    const options = { store, sweepMs: 5 }
    const one = await openPushHouse(t, agent, {}, options)
    const other = await openPushHouse(t, agent, {}, options)
    const { id } = await one.house.task('go', withPush())
    await eventually(async () => (await one.desk.cursors(id))[0]?.state === 'done')
    const seqs = [...one.receiver.told, ...other.receiver.told].map(({ item }) => item.seq)
    assert.equal(seqs.length, new Set(seqs).size)
    assert.ok(seqs.length >= 30)
  })

  it('goes on after a restart with what was not delivered [B-119 B-127]', async (t) => {
    const store = memoryStore()
    const first = await openPushHouse(t, () => 'done', { scheduleMs: [60_000] }, { store })
    first.receiver.answer = () => broken
    const { id } = await first.house.task('go', withPush())
    await eventually(() => first.receiver.told.length === 1)
    await first.house.engine.close()
    const later = Date.now() + 120_000
    const second = await openPushHouse(t, () => 'done', {}, { store, now: () => later })
    await eventually(async () => (await second.desk.cursors(id))[0]?.state === 'done')
    assert.deepEqual(wordsOf(second.receiver.told), ['SUBMITTED', 'WORKING', 'done', 'COMPLETED'])
  })

  it('tells what a task came to where its log was dropped', async (t) => {
    const store = memoryStore()
    const { house, receiver, desk } = await openPushHouse(
      t,
      () => 'done',
      {},
      { store, retention: { logMs: 3_600_000 } },
    )
    receiver.answer = () => ({ outcome: 'refused', said: 'HTTP 400' })
    const { id } = await house.task('go', withPush())
    await eventually(async () => (await desk.cursors(id))[0]?.state === 'dead')
    await eventually(async () => (await store.loadSnapshot(id)) !== undefined)
    await store.prune({ logBefore: Date.now() + 60_000, batch: 10 })
    const again = await openPushHouse(t, () => 'done', {}, { store })
    await again.desk.redeliver(id, id)
    await eventually(async () => (await again.desk.cursors(id))[0]?.state === 'done')
    assert.deepEqual(wordsOf(again.receiver.told), ['task COMPLETED'])
  })
})
