/** Removed data is gone for every reader, and no reader may assume that it has seen all of it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inputRequired } from '../../agents/reports.ts'
import { sqliteStore } from '../../stores/sqlite/index.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { eventually, openTestEngine, userMessage } from '../../testing/fixtures/test-engine.ts'
import { followLog } from '../task/follow.ts'
import { createLogPages } from '../task/log-pages.ts'
import { emptyFold, foldRecord } from '../task/fold.ts'
import { LoadedTask } from '../task/loaded-task.ts'

describe('a task that was removed', () => {
  it('is not found, even if it was in use a moment ago', async (t) => {
    const store = sqliteStore(':memory:')
    t.after(() => store.close())
    const testEngine = await openTestEngine(t, () => 'done', { store, retention: { finishedMs: -1_000 }, sweepMs: 1 })
    const { id } = await testEngine.task('go')
    await eventually(async () => (await store.tasks.load(id)) === undefined)
    await eventually(() =>
      testEngine.get(id).then(
        () => false,
        ({ code }) => code === 'TASK_NOT_FOUND',
      ),
    )
  })

  it('is not found when the store has removed it', async (t) => {
    const testEngine = await openTestEngine(t, () => 'done', { store: memoryStore({ maxTasks: 3, pruneBatch: 1 }) })
    const first = await testEngine.task('go')
    for (let n = 0; n < 5; n += 1) await testEngine.task('go')
    await assert.rejects(testEngine.get(first.id), { code: 'TASK_NOT_FOUND' })
  })
})

describe('a log that was dropped', () => {
  it('is dropped also for a short task, which stays readable', async (t) => {
    const store = sqliteStore(':memory:')
    t.after(() => store.close())
    const testEngine = await openTestEngine(t, () => 'ok', { store, retention: { logMs: -1_000 }, sweepMs: 1 })
    const done = await testEngine.task('go')
    await eventually(async () => (await testEngine.log(done.id)).length === 0)
    assert.deepEqual(await testEngine.get(done.id), done)
  })

  it('interrupts a reader that had not read it, instead of ending normally', async () => {
    const state = emptyFold('t', 'c', { state: 'TASK_STATE_WORKING' })
    const at = 1
    foldRecord(state, { seq: 9, at, body: { type: 'status', status: { state: 'TASK_STATE_COMPLETED' } } })
    const store = memoryStore()
    const parts = {
      store,
      now: () => at,
      holder: 'me',
      coalescesText: () => true,
      keepsTransitions: () => false,
      snapshotAll: () => false,
      warn() {},
      onCommitted() {},
      onFailed() {},
    }
    const live = new LoadedTask(parts, { tenant: '', agent: 'a', owner: 'o' }, state)
    const reader = followLog(live, createLogPages(store.tasks), { afterSeq: 3, isEnd: () => false })[
      Symbol.asyncIterator
    ]()
    await assert.rejects(async () => reader.next(), { code: 'UNAVAILABLE' })
    assert.equal(live.isIdle, true, 'and the task may leave the memory')
  })
})

it('ends a repeated stream at once for a reader that has seen the question [B-91 B-109]', async (t) => {
  const testEngine = await openTestEngine(t, () => inputRequired('Where?'))
  const message = userMessage('go')
  const asked = await testEngine.task(message)
  const lastEventId = (await testEngine.log(asked.id)).length
  const again = await testEngine.stream(message, { as: { lastEventId } })
  assert.deepEqual(await again.rest(), [])
})
