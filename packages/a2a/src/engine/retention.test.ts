/** What is removed is gone for everybody, and nobody is let believe that they have seen all of it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inputRequired } from '../agents/reports.ts'
import { sqliteStore } from '../stores/sqlite/index.ts'
import { memoryStore } from '../stores/memory.ts'
import { eventually, openHouse, userMessage } from '../testing/engine-fixture.ts'
import { follow } from './follow.ts'
import { createLogPages } from './log-pages.ts'
import { emptyFold, fold } from './fold.ts'
import { Live } from './live.ts'

describe('a task that was removed', () => {
  it('is not found any more, although it was in use a moment ago', async (t) => {
    const store = sqliteStore(':memory:')
    t.after(() => store.close())
    const house = await openHouse(t, () => 'done', { store, retention: { finishedMs: -1_000 }, sweepMs: 1 })
    const { id } = await house.task('go')
    await eventually(async () => (await store.load(id)) === undefined)
    await eventually(() =>
      house.get(id).then(
        () => false,
        ({ code }) => code === 'TASK_NOT_FOUND',
      ),
    )
  })

  it('is not found when a store has let go of it by itself', async (t) => {
    const house = await openHouse(t, () => 'done', { store: memoryStore({ maxTasks: 3, pruneBatch: 1 }) })
    const first = await house.task('go')
    for (let n = 0; n < 5; n += 1) await house.task('go')
    await assert.rejects(house.get(first.id), { code: 'TASK_NOT_FOUND' })
  })
})

describe('a log that was dropped', () => {
  it('goes also when the task was short, and the task stays readable', async (t) => {
    const store = sqliteStore(':memory:')
    t.after(() => store.close())
    const house = await openHouse(t, () => 'ok', { store, retention: { logMs: -1_000 }, sweepMs: 1 })
    const done = await house.task('go')
    await eventually(async () => (await house.log(done.id)).length === 0)
    assert.deepEqual(await house.get(done.id), done)
  })

  it('interrupts a reader that had not read it yet, instead of ending as if all was said', async () => {
    const state = emptyFold('t', 'c', { state: 'TASK_STATE_WORKING' })
    const at = 1
    fold(state, { seq: 9, at, body: { type: 'status', status: { state: 'TASK_STATE_COMPLETED' } } })
    const store = memoryStore()
    const parts = {
      store,
      now: () => at,
      holder: 'me',
      coalescesText: () => true,
      keepsTransitions: () => false,
      snapshotsAll: false,
      warn() {},
      released() {},
      lost() {},
    }
    const live = new Live(parts, { tenant: '', agent: 'a', owner: 'o' }, state, { lastAt: 0 })
    const reader = follow(live, createLogPages(store), { afterSeq: 3, endsAt: () => false })[Symbol.asyncIterator]()
    await assert.rejects(async () => reader.next(), { code: 'UNAVAILABLE' })
    assert.equal(live.idle, true, 'and the task may leave the memory')
  })
})

it('ends a repeated stream at once for a reader who has seen the question [B-91 B-109]', async (t) => {
  const house = await openHouse(t, () => inputRequired('Where?'))
  const message = userMessage('go')
  const asked = await house.task(message)
  const lastEventId = (await house.log(asked.id)).length
  const again = await house.stream(message, { as: { lastEventId } })
  assert.deepEqual(await again.rest(), [])
})
