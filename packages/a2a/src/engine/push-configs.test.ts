import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Agent } from '../agents/agent.ts'
import { reply } from '../agents/reports.ts'
import { memoryStore } from '../stores/memory.ts'
import type { PushRow } from '../stores/store.ts'
import { eventually } from '../testing/engine-fixture.ts'
import { troubledStore } from '../testing/troubled-store.ts'
import { asking, broken, createWaiting, ok, openPushHouse, url, withPush, wordsOf } from '../testing/push-fixture.ts'

const talkative: Agent = async function* () {
  yield 'a'
  yield 'b'
}

describe('a webhook that a message asks for', () => {
  it('is told of every status and of each artifact that is complete, in order, and then no more [B-71 B-127 B-132]', async (t) => {
    const { house, receiver, desk } = await openPushHouse(t, talkative)
    const { id } = await house.task('go', withPush())
    await eventually(async () => (await desk.cursors(id))[0]?.state === 'done')
    assert.deepEqual(wordsOf(receiver.told), ['SUBMITTED', 'WORKING', 'ab', 'COMPLETED'])
    const seqs = receiver.told.map(({ item }) => item.seq)
    assert.deepEqual(
      seqs,
      seqs.toSorted((a, b) => a - b),
    )
    assert.deepEqual(
      (await desk.cursors(id)).map((cursor) => cursor.id),
      [id],
    )
  })

  it('is told of every chunk if the server says so [B-132]', async (t) => {
    const { house, receiver, desk } = await openPushHouse(t, talkative)
    const { id } = await house.task('go', { ...withPush(), as: { push: { version: '1.0', triggers: 'all' } } })
    await eventually(async () => (await desk.cursors(id))[0]?.state === 'done')
    assert.deepEqual(wordsOf(receiver.told), ['SUBMITTED', 'WORKING', 'a', 'b', 'COMPLETED'])
  })

  it('is one webhook however often the message comes, and whichever messages of the task ask for it', async (t) => {
    const asks: Agent = ({ text }) => (text === 'end' ? 'done' : { state: 'TASK_STATE_INPUT_REQUIRED' })
    const { house, receiver, desk } = await openPushHouse(t, asks)
    const first = await house.task({ messageId: 'm1', parts: [{ text: 'go' }] }, withPush())
    await house.task({ messageId: 'm1', parts: [{ text: 'go' }] }, withPush())
    await eventually(() => wordsOf(receiver.told).at(-1) === 'INPUT_REQUIRED')
    await house.task({ taskId: first.id, parts: [{ text: 'end' }] }, withPush())
    await eventually(async () => (await desk.cursors(first.id))[0]?.state === 'done')
    assert.deepEqual(wordsOf(receiver.told), ['SUBMITTED', 'INPUT_REQUIRED', 'WORKING', 'done', 'COMPLETED'])
  })

  it('is there after all if the one who asked did not hear of it and sends again [B-71]', async (t) => {
    const { house, receiver, desk } = await openPushHouse(t, () => 'done')
    const message = { messageId: 'm1', parts: [{ text: 'go' }] }
    // The process died between the task and its webhook.
    const { id } = await house.task(message)
    await house.task(message, withPush())
    await eventually(async () => (await desk.cursors(id))[0]?.state === 'done')
    assert.deepEqual(wordsOf(receiver.told), ['SUBMITTED', 'WORKING', 'done', 'COMPLETED'])
  })

  it('of a task that is there begins with that message', async (t) => {
    const asks: Agent = ({ text }) => (text === 'end' ? 'done' : { state: 'TASK_STATE_INPUT_REQUIRED' })
    const { house, receiver, desk } = await openPushHouse(t, asks)
    const { id } = await house.task('go')
    await house.task({ taskId: id, parts: [{ text: 'end' }] }, withPush({ id: 'late' }))
    await eventually(async () => (await desk.cursors(id))[0]?.state === 'done')
    assert.deepEqual(wordsOf(receiver.told), ['WORKING', 'done', 'COMPLETED'])
  })

  it('is refused before the message is taken if the task has as many as it may [B-130]', async (t) => {
    const { house, desk } = await openPushHouse(t, () => ({ state: 'TASK_STATE_INPUT_REQUIRED' }), {
      configsPerTask: 1,
    })
    const { id } = await house.task('go', withPush())
    const before = (await house.log(id)).length
    await assert.rejects(house.task({ taskId: id }, withPush({ id: 'another' })), { code: 'INVALID_PARAMS' })
    assert.equal((await house.log(id)).length, before)
    assert.equal((await desk.cursors(id)).length, 1)
  })

  it('of a direct reply is none: there is no task', async (t) => {
    const { house, receiver } = await openPushHouse(t, () => reply('hi'))
    assert.ok('message' in (await house.send('go', withPush())))
    await turn()
    assert.deepEqual(receiver.told, [])
  })
})

describe('webhook configs', () => {
  it('are made with an id or get one, replaced, read, listed by pages and deleted for good [B-116 B-117 B-118]', async (t) => {
    const { agent, release } = createWaiting()
    const { house, desk } = await openPushHouse(t, agent)
    const { id: taskId } = await house.start('go')
    const made = await desk.create({ taskId, url }, asking)
    assert.match(made.id ?? '', /^[\da-f-]{36}$/)
    await desk.create({ taskId, id: 'two', url }, asking)
    await desk.create({ taskId, id: 'two', url: `${url}/2` }, asking)
    assert.equal((await desk.get({ taskId, id: 'two' }, asking)).url, `${url}/2`)
    await desk.create({ taskId, id: 'three', url }, asking)
    const first = await desk.list({ taskId, pageSize: 2 }, asking)
    const second = await desk.list({ taskId, pageSize: 2, pageToken: first.nextPageToken }, asking)
    assert.deepEqual(
      [...first.configs, ...second.configs].map((config) => config.id),
      [made.id, 'two', 'three'],
    )
    assert.equal(second.nextPageToken, '')
    await assert.rejects(desk.list({ taskId, pageToken: 'made up' }, asking), { code: 'INVALID_PARAMS' })
    await desk.delete({ taskId, id: 'two' }, asking)
    await desk.delete({ taskId, id: 'two' }, asking)
    await assert.rejects(desk.get({ taskId, id: 'two' }, asking), { code: 'TASK_NOT_FOUND' })
    release()
  })

  it('are their owner’s: to others there is no such task [B-117 B-160]', async (t) => {
    const { house, desk } = await openPushHouse(t, () => ({ state: 'TASK_STATE_INPUT_REQUIRED' }))
    const { id: taskId } = await house.task('go', withPush({ id: 'mine' }))
    const bob = { ...asking, caller: { id: 'bob' } }
    const tries = [
      desk.create({ taskId, url }, bob),
      desk.get({ taskId, id: 'mine' }, bob),
      desk.list({ taskId }, bob),
      desk.delete({ taskId, id: 'mine' }, bob),
      desk.create({ taskId: 'nowhere', url }, asking),
      desk.delete({ taskId: 'nowhere', id: 'mine' }, asking),
    ]
    for (const one of await Promise.allSettled(tries)) {
      assert.equal(one.status === 'rejected' && (one.reason as { code: string }).code, 'TASK_NOT_FOUND')
    }
    assert.equal((await desk.list({ taskId }, asking)).configs.length, 1)
  })

  it('never give a secret back, and keep none in the open [B-120 B-131]', async (t) => {
    const store = memoryStore()
    const { house, desk, receiver } = await openPushHouse(
      t,
      () => ({ state: 'TASK_STATE_INPUT_REQUIRED' }),
      {},
      { store },
    )
    const { id: taskId } = await house.task('go')
    const secrets = { token: 'tok-123', authentication: { scheme: 'Basic', credentials: 'cred-456' } }
    const shown = [
      await desk.create({ taskId, id: 'h', url, ...secrets }, asking),
      await desk.get({ taskId, id: 'h' }, asking),
      ...(await desk.list({ taskId }, asking)).configs,
    ]
    for (const config of shown) assert.deepEqual(config, { id: 'h', taskId, url, authentication: { scheme: 'Basic' } })
    assert.doesNotMatch(JSON.stringify(await store.loadPush(taskId, 'h')), /tok-123|cred-456/)
    await house.cancel(taskId)
    await eventually(() => receiver.told.length > 0)
    assert.deepEqual(receiver.told[0]?.target, { version: '1.0', triggers: 'significant', url, ...secrets })
  })

  it('without an id answer the one that has none, else the newest', async (t) => {
    const { house, desk } = await openPushHouse(t, () => ({ state: 'TASK_STATE_INPUT_REQUIRED' }))
    const { id: taskId } = await house.task('go')
    await assert.rejects(desk.get({ taskId }, asking), { code: 'TASK_NOT_FOUND' })
    await desk.create({ taskId, id: 'one', url }, asking)
    await desk.create({ taskId, id: 'two', url }, asking)
    assert.equal((await desk.get({ taskId }, asking)).id, 'two')
    await desk.create({ taskId, id: taskId, url }, asking)
    await desk.create({ taskId, id: 'two', url }, asking)
    assert.equal((await desk.get({ taskId }, asking)).id, taskId)
  })

  it('are told of what comes after, not of what was, and of a finished task nothing [B-135]', async (t) => {
    const { agent, release } = createWaiting()
    const { house, desk, receiver } = await openPushHouse(t, agent)
    const { id: taskId } = await house.start('go')
    await house.reaches(taskId, 'TASK_STATE_WORKING')
    await desk.create({ taskId, id: 'early', url }, asking)
    await turn()
    assert.deepEqual(receiver.told, [])
    release()
    await eventually(async () => (await desk.cursors(taskId))[0]?.state === 'done')
    assert.deepEqual(wordsOf(receiver.told), ['COMPLETED'])
    await desk.create({ taskId, id: 'late', url }, asking)
    assert.equal((await desk.get({ taskId, id: 'late' }, asking)).url, url)
    assert.deepEqual(
      (await desk.cursors(taskId)).map(({ state }) => state),
      ['done', 'done'],
    )
  })

  it('that are replaced tell nobody any more when that is answered, also if they had just begun again [B-118]', async (t) => {
    const old: AbortSignal[] = []
    let isSlow = false
    const store = troubledStore(memoryStore(), {
      // Between the look at the old one and the new one.
      before: (method) => (isSlow && method === 'savePush' ? eventually(() => old.length === 2) : undefined),
    })
    const { house, desk, receiver } = await openPushHouse(t, () => 'done', {}, { store })
    receiver.answer = ({ target, signal }) => {
      if (target.url !== url) return ok
      old.push(signal)
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(broken)))
    }
    const { id: taskId } = await house.task('go', withPush({ id: 'h' }))
    await eventually(() => old.length === 1)
    isSlow = true
    await desk.create({ taskId, id: 'h', url: `${url}/new` }, asking)
    assert.deepEqual(
      old.map(({ aborted }) => aborted),
      [true, true],
    )
    await eventually(async () => (await desk.cursors(taskId))[0]?.state === 'done')
  })

  it('that come with a message of long ago begin there, and a long log is not read at once for it', async (t) => {
    const reads: unknown[] = []
    const saved: PushRow[] = []
    const store = troubledStore(memoryStore(), {
      before(method, given) {
        if (method === 'read') reads.push(given[2])
        if (method === 'savePush') saved.push(given[0] as PushRow)
      },
    })
    const asks: Agent = async function* ({ text }) {
      if (text === 'much') for (let n = 0; n < 500; n += 1) yield { text: `${n}` }
      yield { state: 'TASK_STATE_INPUT_REQUIRED' }
    }
    const { house, desk } = await openPushHouse(t, asks, {}, { store })
    const { id: taskId } = await house.task('much')
    const message = { messageId: 'm2', taskId, parts: [{ text: 'two' }] }
    await house.task(message)
    await house.task({ taskId, parts: [{ text: 'three' }] })
    const [, came] = (await house.log(taskId)).filter(({ body }) => body.type === 'message')
    reads.length = 0
    await house.task(message, withPush({ id: 'late' }))
    assert.equal((await desk.cursors(taskId)).length, 1)
    assert.deepEqual(
      saved.map(({ deliveredSeq }) => deliveredSeq),
      [(came?.seq ?? 0) - 1],
    )
    assert.ok(reads.length > 2 && reads.every((limit) => limit === 200))
  })

  it('are given up by those that are replaced: the new one goes on where the old one was', async (t) => {
    const { house, desk, receiver } = await openPushHouse(t, () => 'done')
    receiver.answer = ({ target }) => (target.url === url ? { outcome: 'refused', said: 'HTTP 401' } : ok)
    const { id: taskId } = await house.task('go', withPush({ id: 'h' }))
    await eventually(async () => (await desk.cursors(taskId))[0]?.state === 'dead')
    await desk.create({ taskId, id: 'h', url: `${url}/mended` }, asking)
    await eventually(async () => (await desk.cursors(taskId))[0]?.state === 'done')
    assert.deepEqual(wordsOf(receiver.told), ['SUBMITTED', 'SUBMITTED', 'WORKING', 'done', 'COMPLETED'])
  })
})
