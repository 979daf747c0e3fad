import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Agent } from '../../agents/agent.ts'
import { reply } from '../../agents/reports.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import type { PushRow } from '../../stores/store.ts'
import { eventually } from '../../testing/fixtures/test-engine.ts'
import { faultyStore } from '../../testing/fixtures/faulty-store.ts'
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

const talkative: Agent = async function* () {
  yield 'a'
  yield 'b'
}

describe('a webhook inside a message', () => {
  it('receives every status and each complete artifact, in order, and nothing more [B-71 B-127 B-132]', async (t) => {
    const { testEngine, receiver, service } = await openPushTestEngine(t, talkative)
    const { id } = await testEngine.task('go', withPush())
    await eventually(async () => (await service.cursors(id))[0]?.state === 'done')
    assert.deepEqual(describeDeliveries(receiver.deliveries), ['SUBMITTED', 'WORKING', 'ab', 'COMPLETED'])
    const seqs = receiver.deliveries.map(({ item }) => item.seq)
    assert.deepEqual(
      seqs,
      seqs.toSorted((a, b) => a - b),
    )
    assert.deepEqual(
      (await service.cursors(id)).map((cursor) => cursor.id),
      [id],
    )
  })

  it('receives every chunk if configured [B-132]', async (t) => {
    const { testEngine, receiver, service } = await openPushTestEngine(t, talkative)
    const { id } = await testEngine.task('go', { ...withPush(), as: { push: { version: '1.0', triggers: 'all' } } })
    await eventually(async () => (await service.cursors(id))[0]?.state === 'done')
    assert.deepEqual(describeDeliveries(receiver.deliveries), ['SUBMITTED', 'WORKING', 'a', 'b', 'COMPLETED'])
  })

  it('is one webhook however often the message is repeated, and for all messages of the task', async (t) => {
    const asks: Agent = ({ text }) => (text === 'end' ? 'done' : { state: 'TASK_STATE_INPUT_REQUIRED' })
    const { testEngine, receiver, service } = await openPushTestEngine(t, asks)
    const first = await testEngine.task({ messageId: 'm1', parts: [{ text: 'go' }] }, withPush())
    await testEngine.task({ messageId: 'm1', parts: [{ text: 'go' }] }, withPush())
    await eventually(() => describeDeliveries(receiver.deliveries).at(-1) === 'INPUT_REQUIRED')
    await testEngine.task({ taskId: first.id, parts: [{ text: 'end' }] }, withPush())
    await eventually(async () => (await service.cursors(first.id))[0]?.state === 'done')
    assert.deepEqual(describeDeliveries(receiver.deliveries), [
      'SUBMITTED',
      'INPUT_REQUIRED',
      'WORKING',
      'done',
      'COMPLETED',
    ])
  })

  it('is created by a repeated message if the first response was lost [B-71]', async (t) => {
    const { testEngine, receiver, service } = await openPushTestEngine(t, () => 'done')
    const message = { messageId: 'm1', parts: [{ text: 'go' }] }
    // The process died between the task and its push notification config.
    const { id } = await testEngine.task(message)
    await testEngine.task(message, withPush())
    await eventually(async () => (await service.cursors(id))[0]?.state === 'done')
    assert.deepEqual(describeDeliveries(receiver.deliveries), ['SUBMITTED', 'WORKING', 'done', 'COMPLETED'])
  })

  it('of an existing task begins with that message', async (t) => {
    const asks: Agent = ({ text }) => (text === 'end' ? 'done' : { state: 'TASK_STATE_INPUT_REQUIRED' })
    const { testEngine, receiver, service } = await openPushTestEngine(t, asks)
    const { id } = await testEngine.task('go')
    await testEngine.task({ taskId: id, parts: [{ text: 'end' }] }, withPush({ id: 'late' }))
    await eventually(async () => (await service.cursors(id))[0]?.state === 'done')
    assert.deepEqual(describeDeliveries(receiver.deliveries), ['WORKING', 'done', 'COMPLETED'])
  })

  it('is refused before the message is accepted if the task has the maximum number [B-130]', async (t) => {
    const { testEngine, service } = await openPushTestEngine(t, () => ({ state: 'TASK_STATE_INPUT_REQUIRED' }), {
      configsPerTask: 1,
    })
    const { id } = await testEngine.task('go', withPush())
    const before = (await testEngine.log(id)).length
    await assert.rejects(testEngine.task({ taskId: id }, withPush({ id: 'another' })), { code: 'INVALID_PARAMS' })
    assert.equal((await testEngine.log(id)).length, before)
    assert.equal((await service.cursors(id)).length, 1)
  })

  it('of a direct reply is dropped: there is no task', async (t) => {
    const { testEngine, receiver } = await openPushTestEngine(t, () => reply('hi'))
    assert.ok('message' in (await testEngine.send('go', withPush())))
    await turn()
    assert.deepEqual(receiver.deliveries, [])
  })
})

describe('webhook configs', () => {
  it('are created with an id or get one, replaced, read, listed in pages and deleted [B-116 B-117 B-118]', async (t) => {
    const { agent, release } = createBlockedAgent()
    const { testEngine, service } = await openPushTestEngine(t, agent)
    const { id: taskId } = await testEngine.start('go')
    const made = await service.create({ taskId, url: webhookUrl }, pushCallContext)
    assert.match(made.id ?? '', /^[\da-f-]{36}$/)
    await service.create({ taskId, id: 'two', url: webhookUrl }, pushCallContext)
    await service.create({ taskId, id: 'two', url: `${webhookUrl}/2` }, pushCallContext)
    assert.equal((await service.get({ taskId, id: 'two' }, pushCallContext)).url, `${webhookUrl}/2`)
    await service.create({ taskId, id: 'three', url: webhookUrl }, pushCallContext)
    const first = await service.list({ taskId, pageSize: 2 }, pushCallContext)
    const second = await service.list({ taskId, pageSize: 2, pageToken: first.nextPageToken }, pushCallContext)
    assert.deepEqual(
      [...first.configs, ...second.configs].map((config) => config.id),
      [made.id, 'two', 'three'],
    )
    assert.equal(second.nextPageToken, '')
    await assert.rejects(service.list({ taskId, pageToken: 'made up' }, pushCallContext), { code: 'INVALID_PARAMS' })
    await service.delete({ taskId, id: 'two' }, pushCallContext)
    await service.delete({ taskId, id: 'two' }, pushCallContext)
    await assert.rejects(service.get({ taskId, id: 'two' }, pushCallContext), { code: 'TASK_NOT_FOUND' })
    release()
  })

  it('belong to their owner: other callers find no such task [B-117 B-160]', async (t) => {
    const { testEngine, service } = await openPushTestEngine(t, () => ({ state: 'TASK_STATE_INPUT_REQUIRED' }))
    const { id: taskId } = await testEngine.task('go', withPush({ id: 'mine' }))
    const bob = { ...pushCallContext, caller: { id: 'bob' } }
    const tries = [
      service.create({ taskId, url: webhookUrl }, bob),
      service.get({ taskId, id: 'mine' }, bob),
      service.list({ taskId }, bob),
      service.delete({ taskId, id: 'mine' }, bob),
      service.create({ taskId: 'nowhere', url: webhookUrl }, pushCallContext),
      service.delete({ taskId: 'nowhere', id: 'mine' }, pushCallContext),
    ]
    for (const one of await Promise.allSettled(tries)) {
      assert.equal(one.status === 'rejected' && (one.reason as { code: string }).code, 'TASK_NOT_FOUND')
    }
    assert.equal((await service.list({ taskId }, pushCallContext)).configs.length, 1)
  })

  it('never return a secret, and store none in plain text [B-120 B-131]', async (t) => {
    const store = memoryStore()
    const { testEngine, service, receiver } = await openPushTestEngine(
      t,
      () => ({ state: 'TASK_STATE_INPUT_REQUIRED' }),
      {},
      { store },
    )
    const { id: taskId } = await testEngine.task('go')
    const secrets = { token: 'tok-123', authentication: { scheme: 'Basic', credentials: 'cred-456' } }
    const shown = [
      await service.create({ taskId, id: 'h', url: webhookUrl, ...secrets }, pushCallContext),
      await service.get({ taskId, id: 'h' }, pushCallContext),
      ...(await service.list({ taskId }, pushCallContext)).configs,
    ]
    for (const config of shown)
      assert.deepEqual(config, { id: 'h', taskId, url: webhookUrl, authentication: { scheme: 'Basic' } })
    assert.doesNotMatch(JSON.stringify(await store.push.load(taskId, 'h')), /tok-123|cred-456/)
    await testEngine.cancel(taskId)
    await eventually(() => receiver.deliveries.length > 0)
    assert.deepEqual(receiver.deliveries[0]?.target, {
      version: '1.0',
      triggers: 'significant',
      url: webhookUrl,
      ...secrets,
    })
  })

  it('without an id return the one that has none, else the newest', async (t) => {
    const { testEngine, service } = await openPushTestEngine(t, () => ({ state: 'TASK_STATE_INPUT_REQUIRED' }))
    const { id: taskId } = await testEngine.task('go')
    await assert.rejects(service.get({ taskId }, pushCallContext), { code: 'TASK_NOT_FOUND' })
    await service.create({ taskId, id: 'one', url: webhookUrl }, pushCallContext)
    await service.create({ taskId, id: 'two', url: webhookUrl }, pushCallContext)
    assert.equal((await service.get({ taskId }, pushCallContext)).id, 'two')
    await service.create({ taskId, id: taskId, url: webhookUrl }, pushCallContext)
    await service.create({ taskId, id: 'two', url: webhookUrl }, pushCallContext)
    assert.equal((await service.get({ taskId }, pushCallContext)).id, taskId)
  })

  it('receive later events, not earlier ones, and nothing of a finished task [B-135]', async (t) => {
    const { agent, release } = createBlockedAgent()
    const { testEngine, service, receiver } = await openPushTestEngine(t, agent)
    const { id: taskId } = await testEngine.start('go')
    await testEngine.reaches(taskId, 'TASK_STATE_WORKING')
    await service.create({ taskId, id: 'early', url: webhookUrl }, pushCallContext)
    await turn()
    assert.deepEqual(receiver.deliveries, [])
    release()
    await eventually(async () => (await service.cursors(taskId))[0]?.state === 'done')
    assert.deepEqual(describeDeliveries(receiver.deliveries), ['COMPLETED'])
    await service.create({ taskId, id: 'late', url: webhookUrl }, pushCallContext)
    assert.equal((await service.get({ taskId, id: 'late' }, pushCallContext)).url, webhookUrl)
    assert.deepEqual(
      (await service.cursors(taskId)).map(({ state }) => state),
      ['done', 'done'],
    )
  })

  it('that are replaced deliver nothing more after the response, even if a delivery had just started [B-118]', async (t) => {
    const old: AbortSignal[] = []
    let isSlow = false
    const store = faultyStore(memoryStore(), {
      // Between the read of the old config and the write of the new one.
      before: (method) => (isSlow && method === 'push.save' ? eventually(() => old.length === 2) : undefined),
    })
    const { testEngine, service, receiver } = await openPushTestEngine(t, () => 'done', {}, { store })
    receiver.answer = ({ target, signal }) => {
      if (target.url !== webhookUrl) return deliveredOutcome
      old.push(signal)
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(failedOutcome)))
    }
    const { id: taskId } = await testEngine.task('go', withPush({ id: 'h' }))
    await eventually(() => old.length === 1)
    isSlow = true
    await service.create({ taskId, id: 'h', url: `${webhookUrl}/new` }, pushCallContext)
    assert.deepEqual(
      old.map(({ aborted }) => aborted),
      [true, true],
    )
    await eventually(async () => (await service.cursors(taskId))[0]?.state === 'done')
  })

  it('of an old message begin at its position, without reading the whole log', async (t) => {
    const reads: unknown[] = []
    const saved: PushRow[] = []
    const store = faultyStore(memoryStore(), {
      before(method, given) {
        if (method === 'tasks.read') reads.push(given[2])
        if (method === 'push.save') saved.push(given[0] as PushRow)
      },
    })
    const asks: Agent = async function* ({ text }) {
      if (text === 'much') for (let n = 0; n < 500; n += 1) yield { text: `${n}` }
      yield { state: 'TASK_STATE_INPUT_REQUIRED' }
    }
    const { testEngine, service } = await openPushTestEngine(t, asks, {}, { store })
    const first = { messageId: 'm1', parts: [{ text: 'much' }] }
    const { id: taskId } = await testEngine.task(first)
    const message = { messageId: 'm2', taskId, parts: [{ text: 'two' }] }
    await testEngine.task(message)
    await testEngine.task({ taskId, parts: [{ text: 'three' }] })
    const [, came] = (await testEngine.log(taskId)).filter(({ body }) => body.type === 'message')
    reads.length = 0
    await testEngine.task(message, withPush({ id: 'late' }))
    assert.equal((await service.cursors(taskId)).length, 1)
    assert.deepEqual(
      saved.map(({ deliveredSeq }) => deliveredSeq),
      [(came?.seq ?? 0) - 1],
    )
    // The beginning, and the last page: not the 500 records between.
    assert.deepEqual(reads, [8, 200])
    reads.length = 0
    await testEngine.task(first, withPush({ id: 'first' }))
    assert.deepEqual([saved.at(-1)?.id, saved.at(-1)?.deliveredSeq, ...reads], ['first', 0, 8])
  })

  it('are replaced in place: the new one continues where the old one was', async (t) => {
    const { testEngine, service, receiver } = await openPushTestEngine(t, () => 'done')
    receiver.answer = ({ target }) =>
      target.url === webhookUrl ? { outcome: 'refused', detail: 'HTTP 401' } : deliveredOutcome
    const { id: taskId } = await testEngine.task('go', withPush({ id: 'h' }))
    await eventually(async () => (await service.cursors(taskId))[0]?.state === 'dead')
    await service.create({ taskId, id: 'h', url: `${webhookUrl}/fixed` }, pushCallContext)
    await eventually(async () => (await service.cursors(taskId))[0]?.state === 'done')
    assert.deepEqual(describeDeliveries(receiver.deliveries), [
      'SUBMITTED',
      'SUBMITTED',
      'WORKING',
      'done',
      'COMPLETED',
    ])
  })
})
