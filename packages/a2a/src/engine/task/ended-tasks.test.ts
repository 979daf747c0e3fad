import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { inputRequired } from '../../agents/reports.ts'
import { transitionsKey } from '../../model/state-transition.ts'
import type { FullStore } from '../../stores/store.ts'
import { sqliteStore } from '../../stores/sqlite/index.ts'
import { aliceContext, openTestEngine, type TestEngineOptions } from '../../testing/fixtures/test-engine.ts'

/** Counts how often the engine loads a log or a row besides the one read. */
function countReads(store: FullStore): { store: FullStore; reads: string[] } {
  const reads: string[] = []
  const { tasks } = store
  return {
    reads,
    store: {
      ...store,
      tasks: {
        ...tasks,
        loadStored: (id) => (reads.push('loadStored'), tasks.loadStored?.(id)),
        load: (id) => (reads.push('load'), tasks.load(id)),
        loadSnapshot: (id) => (reads.push('loadSnapshot'), tasks.loadSnapshot(id)),
        read: (...given) => (reads.push('read'), tasks.read(...given)),
      },
    },
  }
}

const bobContext = { ...aliceContext, caller: { id: 'bob' } }

type Agent = Parameters<typeof openTestEngine>[1]

/** An engine that finds a task of an earlier engine in the store, and the task as the earlier engine returned it. */
async function reopen(t: TestContext, agent: Agent, options: TestEngineOptions = {}) {
  const real = sqliteStore(':memory:')
  const { store, reads } = countReads({ ...real, close: async () => {} })
  const first = await openTestEngine(t, agent, { ...options, store })
  const { id } = await first.task('go')
  const before = await first.engine.getTask({ id }, aliceContext, true)
  await first.engine.close()
  const { engine } = await openTestEngine(t, agent, { ...options, store })
  t.after(() => real.close())
  reads.length = 0
  return { engine, id, before, reads }
}

describe('a finished task that is not in memory', () => {
  it('is read at once, and loaded when it is read again', async (t) => {
    const { engine, id, before, reads } = await reopen(t, async function* () {
      yield { state: 'TASK_STATE_WORKING', message: 'soon' }
      yield 'one '
      yield 'two'
    })
    for (const expected of [['loadStored'], ['loadStored'], []]) {
      assert.deepEqual(await engine.getTask({ id }, aliceContext), before)
      assert.deepEqual(reads.splice(0), expected)
    }
  })

  it('has as much of its history as is requested, and its past states', async (t) => {
    const options = { options: { stateTransitionHistory: true } }
    const { engine, id, before } = await reopen(t, () => 'done', options)
    assert.ok(before.metadata?.[transitionsKey] !== undefined)
    const { history: _, ...rest } = before
    assert.deepEqual(await engine.getTask({ id, historyLength: 0 }, aliceContext, true), rest)
  })

  it('is read from its snapshot', async (t) => {
    const { engine, id, before, reads } = await reopen(t, () => 'done', { retention: { logMs: 1_000_000 } })
    assert.deepEqual(await engine.getTask({ id }, aliceContext), before)
    assert.deepEqual(reads, ['loadStored'])
  })

  it('is not found by other callers', async (t) => {
    const { engine, id } = await reopen(t, () => 'done')
    for (let count = 0; count < 3; count += 1)
      await assert.rejects(engine.getTask({ id }, bobContext), { code: 'TASK_NOT_FOUND' })
    await assert.rejects(engine.getTask({ id: 'unknown' }, aliceContext), { code: 'TASK_NOT_FOUND' })
  })
})

describe('a task that is not in memory and has not ended', () => {
  it('is loaded, because it is usually read again', async (t) => {
    const { engine, id, before, reads } = await reopen(t, () => inputRequired('Where to?'))
    assert.deepEqual(await engine.getTask({ id }, aliceContext), before)
    assert.ok(reads.length > 0)
    reads.length = 0
    assert.deepEqual(await engine.getTask({ id }, aliceContext), before)
    assert.deepEqual(reads, [])
  })
})
