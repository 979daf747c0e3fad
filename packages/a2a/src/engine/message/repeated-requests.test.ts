/** Repeats: of a messageId, with a window and without one, and of a cancel. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inputRequired } from '../../agents/reports.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { aliceContext, openTestEngine } from '../../testing/fixtures/test-engine.ts'

const said = { messageId: 'm-1', parts: [{ text: 'hi' }] }

describe('a messageId that comes again', () => {
  it('means a new message after the window [B-163]', async (t) => {
    let now = Date.UTC(2030, 0, 1)
    const clock = { now: () => now, store: memoryStore({ now: () => now }) }
    const testEngine = await openTestEngine(t, () => 'done', { ...clock, options: { idempotencyWindowMs: 1_000 } })
    const first = await testEngine.task(said)
    now += 999
    assert.equal((await testEngine.task(said)).id, first.id)
    now += 2
    assert.notEqual((await testEngine.task(said)).id, first.id)
  })

  it('means a new message always, where there is no window, in a send and in a continued task [B-163]', async (t) => {
    const testEngine = await openTestEngine(t, () => inputRequired('and?'), { options: { idempotencyWindowMs: 0 } })
    const [first, second] = await Promise.all([testEngine.task(said), testEngine.task(said)])
    assert.notEqual(first.id, second.id)
    const continued = await testEngine.task({ ...said, taskId: first.id, parts: [{ text: 'more' }] })
    assert.deepEqual(
      continued.history?.filter(({ role }) => role === 'ROLE_USER').map(({ messageId, parts }) => [messageId, parts]),
      [
        ['m-1', [{ text: 'hi' }]],
        ['m-1', [{ text: 'more' }]],
      ],
    )
  })

  it('gives a new direct message as well, where there is no window [B-163]', async (t) => {
    let count = 0
    const agent = () => ({ reply: `answer ${(count += 1)}` })
    const testEngine = await openTestEngine(t, agent, { options: { idempotencyWindowMs: 0 } })
    await testEngine.send(said)
    const again = await testEngine.send(said)
    assert.ok('message' in again)
    assert.deepEqual(again.message.parts, [{ text: 'answer 2' }])
  })
})

describe('a cancel that comes again', () => {
  it('is answered with the task, or refused, as the caller of the engine wants [B-111 B-112]', async (t) => {
    const testEngine = await openTestEngine(t, () => inputRequired('and?'))
    const { id } = await testEngine.task('go')
    // The first cancel is the first, whatever option a second one has.
    const canceled = await testEngine.engine.cancelTask({ id }, aliceContext, 'refuse')
    assert.equal(canceled.status.state, 'TASK_STATE_CANCELED')
    assert.deepEqual(await testEngine.engine.cancelTask({ id }, aliceContext, 'answer'), canceled)
    await assert.rejects(testEngine.engine.cancelTask({ id }, aliceContext, 'refuse'), { code: 'TASK_NOT_CANCELABLE' })
  })
})
