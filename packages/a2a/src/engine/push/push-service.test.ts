import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import type { Agent } from '../../agents/agent.ts'
import { artifact, status } from '../../agents/reports.ts'
import type { Task } from '../../model/task.ts'
import { readTraceparent, spanIdOfPush } from '../../model/trace.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { eventually } from '../../testing/fixtures/test-engine.ts'
import type { PushResult } from '../contract.ts'
import {
  pushCallContext,
  failedOutcome,
  createBlockedAgent,
  deliveredOutcome,
  openPushTestEngine,
  webhookUrl,
  withPush,
  describeDeliveries,
} from '../../testing/fixtures/push-test-engine.ts'

describe('delivery', () => {
  it('begins with the append, without waiting for a sweep', async (t) => {
    const { agent, release } = createBlockedAgent()
    const { testEngine, receiver } = await openPushTestEngine(t, agent, {}, { sweepMs: 60_000 })
    await testEngine.start('go', withPush())
    await eventually(() => describeDeliveries(receiver.deliveries).at(-1) === 'WORKING')
    release()
    await eventually(() => describeDeliveries(receiver.deliveries).at(-1) === 'COMPLETED')
  })

  it('retries until it succeeds, in order, and records every attempt [B-127 B-128]', async (t) => {
    const { testEngine, receiver, service } = await openPushTestEngine(t, () => 'done')
    let failures = 2
    receiver.answer = ({ item: { event } }) =>
      'statusUpdate' in event && event.statusUpdate.status.state === 'TASK_STATE_WORKING' && failures-- > 0
        ? failedOutcome
        : deliveredOutcome
    const { id } = await testEngine.task('go', withPush())
    await eventually(async () => (await service.cursors(id))[0]?.state === 'done')
    assert.deepEqual(describeDeliveries(receiver.deliveries), [
      'SUBMITTED',
      'WORKING',
      'WORKING',
      'WORKING',
      'done',
      'COMPLETED',
    ])
    const attempts = (await service.attempts(id, id, 10)).toReversed()
    assert.deepEqual(
      attempts.map(({ attempt, outcome }) => `${attempt} ${outcome}`),
      ['1 HTTP 204', '1 HTTP 500', '2 HTTP 500', '3 HTTP 204', '1 HTTP 204', '1 HTTP 204'],
    )
    assert.equal(new Set(receiver.deliveries.slice(1, 4).map(({ item }) => item.seq)).size, 1)
  })

  it('ends in a dead letter, and continues there on request [B-128]', async (t) => {
    const { testEngine, receiver, service } = await openPushTestEngine(t, () => 'done')
    receiver.answer = () => failedOutcome
    const { id } = await testEngine.task('go', withPush())
    await eventually(async () => (await service.cursors(id))[0]?.state === 'dead')
    assert.equal(receiver.deliveries.length, 4)
    assert.ok(
      testEngine.lines.some(
        ({ message, fields }) => /failed permanently/.test(message) && fields?.['host'] === 'hooks.example.com',
      ),
    )
    receiver.answer = () => deliveredOutcome
    receiver.deliveries.length = 0
    assert.equal(await service.redeliver(id, 'unknown'), false)
    assert.equal(await service.redeliver(id, id), true)
    await eventually(async () => (await service.cursors(id))[0]?.state === 'done')
    assert.deepEqual(describeDeliveries(receiver.deliveries), ['SUBMITTED', 'WORKING', 'done', 'COMPLETED'])
    // Redeliver everything, for a receiver that lost it.
    await service.redeliver(id, id, 0)
    await eventually(async () => receiver.deliveries.length === 8)
  })

  it('is reported to onResult: each attempt with its duration and lag, and the dead letter', async (t) => {
    const news: PushResult[] = []
    const onNews = (one: PushResult): void => void news.push(one)
    const { testEngine, receiver, service } = await openPushTestEngine(t, () => 'done', { onResult: onNews })
    receiver.answer = ({ item }) => (item.seq === 2 ? deliveredOutcome : failedOutcome)
    const { id } = await testEngine.task('go', withPush())
    await eventually(async () => (await service.cursors(id))[0]?.state === 'dead')
    assert.deepEqual(
      news.map(({ seq, attempt, outcome }) => `${seq} ${attempt} ${outcome}`),
      ['2 1 delivered', '4 1 failed', '4 2 failed', '4 3 failed', '4 4 failed', '3 4 dead'],
    )
    const tries = news.filter(({ outcome }) => outcome !== 'dead')
    assert.ok(tries.every(({ durationMs, lagMs = -1 }) => durationMs >= 0 && lagMs >= durationMs))
    assert.ok(news.every(({ agent, taskId, configId }) => agent === 'agent' && taskId === id && configId === id))
  })

  it('is in the trace of its event, with each attempt as a span with a stable id [B-171]', async (t) => {
    const { testEngine, receiver, service } = await openPushTestEngine(t, () => 'done')
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
    const traceparent = `00-${traceId}-00f067aa0ba902b7-00`
    const { id } = await testEngine.task('go', { ...withPush(), as: { ...withPush().as, traceparent } })
    await eventually(async () => (await service.cursors(id))[0]?.state === 'done')
    const contexts = receiver.deliveries.map((delivery) => readTraceparent(delivery.traceparent))
    assert.ok(contexts.every((context) => context?.traceId === traceId && !context.isSampled))
    const attempts = (await service.attempts(id, id, 10)).toReversed()
    assert.deepEqual(
      contexts.map((context) => context?.spanId),
      attempts.map(({ seq, at }) => spanIdOfPush(id, id, seq, at)),
    )
  })

  it('stops at once if a retry is useless, and removes a config on 410 [B-128]', async (t) => {
    const { testEngine, receiver, service } = await openPushTestEngine(t, () => 'done')
    receiver.answer = ({ configId }) =>
      configId === 'gone' ? { outcome: 'gone', detail: 'HTTP 410' } : { outcome: 'refused', detail: 'HTTP 400' }
    const refused = await testEngine.task('go', withPush())
    await eventually(async () => (await service.cursors(refused.id))[0]?.state === 'dead')
    const gone = await testEngine.task('go', withPush({ id: 'gone' }))
    await eventually(async () => (await service.cursors(gone.id)).length === 0)
    assert.equal(receiver.deliveries.length, 2)
  })

  it('with a 410 keeps a config that its owner has replaced in the meantime [B-118 B-128]', async (t) => {
    const store = memoryStore()
    const { testEngine, receiver, service } = await openPushTestEngine(t, () => 'done', {}, { store })
    let isReplaced = false
    receiver.answer = async ({ taskId, target }) => {
      if (target.url !== webhookUrl) return deliveredOutcome
      const row = await store.push.load(taskId, 'h')
      // By another process, whose replacement does not stop the delivery here.
      if (row !== undefined) await store.push.save({ ...row, config: { ...row.config, url: `${webhookUrl}/new` } })
      isReplaced = true
      return { outcome: 'gone', detail: 'HTTP 410' }
    }
    const { id: taskId } = await testEngine.task('go', withPush({ id: 'h' }))
    await eventually(async () => isReplaced && (await service.cursors(taskId))[0]?.url === `${webhookUrl}/new`)
    await sleep(20)
    assert.equal((await service.cursors(taskId))[0]?.url, `${webhookUrl}/new`)
  })

  it('waits for as long as the receiver requests', async (t) => {
    const { testEngine, receiver, service } = await openPushTestEngine(t, () => 'done')
    receiver.answer = () => ({ ...failedOutcome, retryAfterMs: 3_600_000 })
    const { id } = await testEngine.task('go', withPush())
    await eventually(async () => ((await service.cursors(id))[0]?.dueAt ?? 0) > Date.now() + 3_000_000)
    assert.equal(receiver.deliveries.length, 1)
  })

  it('that hangs times out, and delays no other webhook [B-127 B-128]', async (t) => {
    const { testEngine, receiver, service } = await openPushTestEngine(t, () => 'done', {
      timeoutMs: 30,
      concurrentPerHost: 1,
    })
    receiver.answer = ({ target, signal }) =>
      target.url === webhookUrl
        ? new Promise((resolve) =>
            signal.addEventListener('abort', () => resolve({ ...failedOutcome, detail: 'timed out' })),
          )
        : deliveredOutcome
    const slow = await testEngine.task('go', withPush())
    const quick = await testEngine.task('go', withPush({ url: 'https://quick.example.com/' }))
    await eventually(async () => (await service.cursors(quick.id))[0]?.state === 'done')
    assert.notEqual((await service.cursors(slow.id))[0]?.state, 'done')
    await eventually(async () => (await service.cursors(slow.id))[0]?.state === 'dead')
  })

  it('stops with the deletion: a running request is aborted, and no other starts [B-118]', async (t) => {
    const { testEngine, receiver, service } = await openPushTestEngine(t, () => 'done')
    let aborted = false
    receiver.answer = ({ signal }) =>
      new Promise((resolve) =>
        signal.addEventListener('abort', () => {
          aborted = true
          resolve(failedOutcome)
        }),
      )
    const { id: taskId } = await testEngine.task('go', withPush({ id: 'h' }))
    await eventually(() => receiver.deliveries.length === 1)
    await service.delete({ taskId, id: 'h' }, pushCallContext)
    assert.equal(aborted, true)
    await sleep(20)
    assert.equal(receiver.deliveries.length, 1)
    assert.deepEqual(await service.cursors(taskId), [])
  })

  it('stops with a deletion by another process [B-118]', async (t) => {
    const store = memoryStore()
    const { testEngine, receiver } = await openPushTestEngine(t, () => 'done', {}, { store })
    receiver.answer = async ({ taskId }) => {
      await store.push.delete(taskId, 'h')
      return deliveredOutcome
    }
    await testEngine.task('go', withPush({ id: 'h' }))
    await eventually(() => receiver.deliveries.length === 1)
    await sleep(20)
    assert.equal(receiver.deliveries.length, 1)
  })

  it('of secrets that no key opens is a dead letter, not a notification without them', async (t) => {
    const store = memoryStore()
    const { testEngine, receiver, service } = await openPushTestEngine(
      t,
      () => ({ state: 'TASK_STATE_INPUT_REQUIRED' }),
      {},
      { store },
    )
    const { id: taskId } = await testEngine.task('go')
    await service.create({ taskId, id: 'h', url: webhookUrl, token: 't' }, pushCallContext)
    const row = await store.push.load(taskId, 'h')
    assert.ok(row)
    // A copy of the row under another id, as an attacker with access to the store could write it.
    await store.push.save({ ...row, id: 'stolen' })
    await testEngine.cancel(taskId)
    await eventually(async () => (await service.cursors(taskId)).every(({ state }) => state !== 'active'))
    assert.deepEqual(
      (await service.cursors(taskId)).map(({ id, state }) => `${id} ${state}`),
      ['h done', 'stolen dead'],
    )
    assert.deepEqual(describeDeliveries(receiver.deliveries), ['CANCELED'])
  })

  it('reports a failure and a cancel like any other end [B-50 B-114]', async (t) => {
    const { testEngine, receiver, service } = await openPushTestEngine(t, () => {
      throw new Error('no')
    })
    const { id } = await testEngine.start('go', withPush())
    await eventually(async () => (await service.cursors(id))[0]?.state === 'done')
    assert.equal(describeDeliveries(receiver.deliveries).at(-1), 'FAILED')
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
    const one = await openPushTestEngine(t, agent, {}, options)
    const other = await openPushTestEngine(t, agent, {}, options)
    const { id } = await one.testEngine.task('go', withPush())
    await eventually(async () => (await one.service.cursors(id))[0]?.state === 'done')
    const seqs = [...one.receiver.deliveries, ...other.receiver.deliveries].map(({ item }) => item.seq)
    assert.equal(seqs.length, new Set(seqs).size)
    assert.ok(seqs.length >= 30)
  })

  it('continues after a restart with undelivered events [B-119 B-127]', async (t) => {
    const store = memoryStore()
    const first = await openPushTestEngine(t, () => 'done', { scheduleMs: [60_000] }, { store })
    first.receiver.answer = () => failedOutcome
    const { id } = await first.testEngine.task('go', withPush())
    await eventually(() => first.receiver.deliveries.length === 1)
    await first.testEngine.engine.close()
    const later = Date.now() + 120_000
    const second = await openPushTestEngine(t, () => 'done', {}, { store, now: () => later })
    await eventually(async () => (await second.service.cursors(id))[0]?.state === 'done')
    assert.deepEqual(describeDeliveries(second.receiver.deliveries), ['SUBMITTED', 'WORKING', 'done', 'COMPLETED'])
  })

  it('of whole tasks skips what the last one contained, also after a restart [B-122]', async (t) => {
    let passedMs = 0
    const now = (): number => Date.now() + passedMs
    const store = memoryStore({ now })
    const asks: Agent = async function* () {
      yield 'half of it'
      yield { state: 'TASK_STATE_INPUT_REQUIRED' }
    }
    const tasks: Task[] = []
    const isDue = Promise.withResolvers<void>()
    const first = await openPushTestEngine(t, asks, { scheduleMs: [60_000] }, { store })
    first.receiver.answer = async ({ task }) => {
      await isDue.promise
      return tasks.push(task()) === 1 ? deliveredOutcome : failedOutcome
    }
    const { id } = await first.testEngine.task('go', withPush())
    isDue.resolve()
    await eventually(() => tasks.length > 0)
    await first.testEngine.engine.close()
    passedMs = 120_000
    const second = await openPushTestEngine(t, asks, {}, { store, now, sweepMs: 5 })
    second.receiver.answer = ({ task }) => {
      tasks.push(task())
      return deliveredOutcome
    }
    await second.testEngine.cancel(id)
    await eventually(async () => (await second.service.cursors(id))[0]?.state === 'done')
    assert.deepEqual(
      tasks.map(({ status }) => status.state),
      ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_CANCELED'],
    )
  })

  it('of whole tasks skips nothing that came after the body was built [B-122 B-127]', async (t) => {
    const { agent, release } = createBlockedAgent()
    const { testEngine, receiver, service } = await openPushTestEngine(t, agent)
    const states: string[] = []
    receiver.answer = async ({ task, taskId }) => {
      const { state } = task().status
      states.push(state)
      if (state !== 'TASK_STATE_WORKING') return deliveredOutcome
      release()
      await testEngine.reaches(taskId, 'TASK_STATE_COMPLETED')
      return deliveredOutcome
    }
    const { id } = await testEngine.start('go', withPush())
    await eventually(async () => (await service.cursors(id))[0]?.state === 'done')
    assert.deepEqual(states.slice(-2), ['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED'])
    assert.equal(new Set(states).size, states.length)
  })

  it('of whole tasks skips an event that changes nothing in the task, until it is redelivered [B-122]', async (t) => {
    const [isTold, isClosed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const agent: Agent = async function* () {
      yield artifact('answer', { text: 'all of it' })
      yield status('Almost done')
      await isTold.promise
      yield artifact('answer', { text: '', append: true, last: true })
      await isClosed.promise
    }
    const { testEngine, receiver, service } = await openPushTestEngine(t, agent)
    const tasks: string[] = []
    receiver.answer = ({ task }) => {
      tasks.push(JSON.stringify(task()))
      return deliveredOutcome
    }
    const { id } = await testEngine.start('go', withPush())
    await eventually(() => tasks.at(-1)?.includes('Almost done') === true)
    const position = async () => (await service.cursors(id))[0]?.deliveredSeq ?? 0
    await eventually(async () => (await position()) >= (receiver.deliveries.at(-1)?.item.seq ?? Infinity))
    const before = await position()
    isTold.resolve()
    await eventually(async () => (await position()) > before)
    assert.equal(new Set(tasks).size, tasks.length)
    const told = tasks.length
    await service.redeliver(id, id, 0)
    await eventually(() => tasks.length > told)
    assert.equal(tasks.at(-1), tasks[told - 1])
    isClosed.resolve()
    await eventually(async () => (await service.cursors(id))[0]?.state === 'done')
    assert.equal(tasks.length, told + 2)
    assert.match(tasks.at(-1) as string, /TASK_STATE_COMPLETED/)
  })

  it('reports the result of a task whose log was dropped', async (t) => {
    const store = memoryStore()
    const { testEngine, receiver, service } = await openPushTestEngine(
      t,
      () => 'done',
      {},
      { store, retention: { logMs: 3_600_000 } },
    )
    receiver.answer = () => ({ outcome: 'refused', detail: 'HTTP 400' })
    const { id } = await testEngine.task('go', withPush())
    await eventually(async () => (await service.cursors(id))[0]?.state === 'dead')
    await eventually(async () => (await store.tasks.loadSnapshot(id)) !== undefined)
    await store.prune({ logBefore: Date.now() + 60_000, batch: 10 })
    const again = await openPushTestEngine(t, () => 'done', {}, { store })
    await again.service.redeliver(id, id)
    await eventually(async () => (await again.service.cursors(id))[0]?.state === 'done')
    assert.deepEqual(describeDeliveries(again.receiver.deliveries), ['task COMPLETED'])
  })
})
