/** The past states of a task, for clients whose version supports them. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inputRequired } from '../../agents/reports.ts'
import { type TaskState } from '../../model/state.ts'
import { transitionsKey } from '../../model/state-transition.ts'
import type { Struct, Task } from '../../model/task.ts'
import { aliceContext, eventually, openTestEngine, type TestEngine } from '../../testing/fixtures/test-engine.ts'
import { crashingStores } from '../../testing/fixtures/crashing-store.ts'
import { emptyFold, foldRecord, foldFromSnapshot, snapshotOf, taskView, withTransitions } from './fold.ts'

const options = { stateTransitionHistory: true }
const asked = async (testEngine: TestEngine, id: string): Promise<Task> =>
  testEngine.engine.getTask({ id }, aliceContext, true)
const transitionsOf = ({ metadata }: Task): readonly Struct[] | undefined =>
  metadata?.[transitionsKey] as readonly Struct[] | undefined
const statesIn = (task: Task): readonly string[] | undefined =>
  transitionsOf(task)?.map(({ state }) => String(state).slice('TASK_STATE_'.length))

describe('the past states of a task', () => {
  it('are returned on request, in order, each once and with its time', async (t) => {
    const testEngine = await openTestEngine(
      t,
      async function* ({ text }) {
        yield { state: 'TASK_STATE_WORKING', message: 'one' }
        yield { state: 'TASK_STATE_WORKING', message: 'two' }
        if (text === 'go') yield inputRequired('Where to?')
      },
      { options },
    )
    const { id } = await testEngine.task('go')
    await testEngine.task({ taskId: id, parts: [{ text: 'home' }] })
    const task = await asked(testEngine, id)
    assert.deepEqual(statesIn(task), ['SUBMITTED', 'WORKING', 'INPUT_REQUIRED', 'WORKING', 'COMPLETED'])
    const times = transitionsOf(task)?.map(({ timestamp }) => Date.parse(String(timestamp))) ?? []
    assert.ok(times.every((time, index) => time >= (times[index - 1] ?? 0)))
    assert.equal((await testEngine.get(id)).metadata, undefined)
  })

  it('are not kept by default', async (t) => {
    const testEngine = await openTestEngine(t, () => 'done')
    const { id } = await testEngine.task('go')
    assert.deepEqual(await asked(testEngine, id), await testEngine.get(id))
  })

  for (const [name, begin] of Object.entries(crashingStores)) {
    it(`are read from the log after a crash, over ${name}`, async (t) => {
      const life = begin(t)
      const first = await openTestEngine(t, () => inputRequired('Where to?'), { ...life, options })
      const { id } = await first.task('go')
      const before = await asked(first, id)
      const second = await openTestEngine(t, () => 'home', { ...(await life.crash()), options })
      assert.deepEqual(transitionsOf(await asked(second, id)), transitionsOf(before))
      await second.task({ taskId: id })
      await eventually(async () => statesIn(await asked(second, id))?.at(-1) === 'COMPLETED')
    })
  }

  it('are kept with a snapshot, up to the last hundred of a task', () => {
    const into = emptyFold('t', 'c', { state: 'TASK_STATE_SUBMITTED' })
    into.transitions = []
    const states: readonly TaskState[] = ['TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED']
    const say = (to: typeof into, seq: number): number =>
      foldRecord(to, { seq, at: seq, body: { type: 'status', status: { state: states[seq % 2] as TaskState } } })
    for (let seq = 1; seq <= 250; seq += 1) say(into, seq)
    const kept = foldFromSnapshot(JSON.parse(JSON.stringify(snapshotOf(into))) as ReturnType<typeof snapshotOf>)
    for (const one of [into, kept]) say(one, 251)
    const [whole, resumed] = [into, kept].map((one) => withTransitions(taskView(one), one))
    assert.equal(transitionsOf(whole as Task)?.length, 100)
    assert.deepEqual(whole, resumed)
  })
})
