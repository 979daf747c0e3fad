/** Periodic work: here pruning; the rest is in the tests of deadlines and recovery. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inputRequired } from '../../agents/reports.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { artifactText, eventually, openTestEngine, short } from '../../testing/fixtures/test-engine.ts'
import { faultyStore } from '../../testing/fixtures/faulty-store.ts'

const day = 86_400_000

function movable() {
  let at = Date.now()
  const now = (): number => at
  return { now, store: memoryStore({ now }), pass: (ms: number) => void (at += ms) }
}

describe('retention', () => {
  it('removes tasks that ended long ago, and never one that is open [S0-19]', async (t) => {
    const { pass, ...clock } = movable()
    const agent = ({ text }: { text: string }) => (text === 'ask' ? inputRequired('?') : 'done')
    const testEngine = await openTestEngine(t, agent, { ...clock, retention: { finishedMs: day }, sweepMs: 1 })
    const [open, old] = [await testEngine.task('ask'), await testEngine.task('go')]
    pass(day + 1)
    const recent = await testEngine.task('go')
    await eventually(async () => (await testEngine.store.tasks.load(old.id)) === undefined)
    assert.equal(short((await testEngine.get(open.id)).status.state), 'INPUT_REQUIRED')
    assert.deepEqual(await testEngine.get(recent.id), recent)
  })

  it('keeps the maximum number, and removes the oldest finished ones first [S0-18 S0-19]', async (t) => {
    const { pass, ...clock } = movable()
    const agent = ({ text }: { text: string }) => (text === 'ask' ? inputRequired('?') : 'done')
    const testEngine = await openTestEngine(t, agent, { ...clock, retention: { maxTasks: 3 }, sweepMs: 1 })
    const ids: string[] = []
    for (const text of ['ask', 'a', 'b', 'c', 'd']) {
      ids.push((await testEngine.task(text)).id)
      pass(1_000)
    }
    const kept = async (): Promise<readonly boolean[]> =>
      Promise.all(ids.map(async (id) => (await testEngine.store.tasks.load(id)) !== undefined))
    await eventually(async () => (await kept()).filter(Boolean).length === 3)
    assert.deepEqual(await kept(), [true, false, false, true, true])
  })

  it('drops the log of a large task before the task itself, which stays readable', async (t) => {
    const { pass, ...clock } = movable()
    const testEngine = await openTestEngine(t, () => 'x'.repeat(100_000), {
      ...clock,
      retention: { logMs: day },
      sweepMs: 1,
    })
    const done = await testEngine.task('go')
    pass(day + 1)
    await eventually(async () => (await testEngine.log(done.id)).length === 0)
    const again = await openTestEngine(t, () => '', clock)
    assert.deepEqual(await again.get(done.id), done)
    assert.equal(artifactText(await again.get(done.id))?.length, 100_000)
  })
})

describe('the sweep', () => {
  it('has ended when the engine has closed, so that its store can be closed', async (t) => {
    const gate = Promise.withResolvers<void>()
    let underway = 0
    const store = faultyStore(memoryStore(), {
      before(method) {
        if (method !== 'tasks.claimDue') return undefined
        underway += 1
        return gate.promise
      },
      after: (method) => void (underway -= method === 'tasks.claimDue' ? 1 : 0),
    })
    const testEngine = await openTestEngine(t, () => 'done', { store, sweepMs: 1 })
    await eventually(() => underway === 1)
    const closed = testEngine.engine.close().then(() => assert.equal(underway, 0))
    setTimeout(gate.resolve, 5)
    await closed
  })

  it('continues after a failed step, and retries that later', async (t) => {
    const { pass, ...clock } = movable()
    let fails = true
    const store = faultyStore(clock.store, {
      before(method) {
        if (fails && method === 'prune') throw new Error('no')
      },
    })
    const inputTimeout = { afterMs: 1_000, then: 'fail' } as const
    const testEngine = await openTestEngine(t, () => inputRequired('?'), {
      ...clock,
      store,
      retention: { finishedMs: day },
      options: { inputTimeout },
      sweepMs: 1,
    })
    const { id } = await testEngine.task('go')
    pass(1_000)
    await testEngine.reaches(id, 'TASK_STATE_FAILED')
    await eventually(() =>
      testEngine.lines.some(({ level, message }) => level === 'warn' && message.includes('due work')),
    )
    fails = false
    pass(day + 1)
    await eventually(async () => (await testEngine.store.tasks.load(id)) === undefined)
  })
})
