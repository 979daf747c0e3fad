import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { AbandonedTask, Agent, Turn } from '../../agents/agent.ts'
import { inputRequired } from '../../agents/reports.ts'
import type { TestEngineOptions } from '../../testing/fixtures/test-engine.ts'
import { eventually, openTestEngine, textOfMessage, short } from '../../testing/fixtures/test-engine.ts'
import { crashingStores } from '../../testing/fixtures/crashing-store.ts'

const untilAborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener('abort', resolve))

/** Keeps external state when it asks, and runs forever on request. */
function keeping(abandoned: AbandonedTask[]): Agent {
  return {
    resume: 'rerun',
    async run(turn: Turn) {
      await turn.checkpoint({ booking: 7 })
      if (turn.text === 'work') return void (await untilAborted(turn.signal))
      if (turn.text === 'ask') return void (await turn.ask('Which city?'))
      return inputRequired('Which city?')
    },
    onAbandoned: (task) => abandoned.push(task),
  }
}

describe('a task that ends while no turn of it runs', () => {
  async function begin(t: TestContext, text: string, options: TestEngineOptions = {}) {
    const abandoned: AbandonedTask[] = []
    const testEngine = await openTestEngine(t, keeping(abandoned), options)
    const { id } = await testEngine.start(text)
    return { testEngine, id, abandoned }
  }

  it('is reported to its agent when it is canceled while it waits for input', async (t) => {
    const { testEngine, id, abandoned } = await begin(t, 'go')
    await testEngine.reaches(id, 'TASK_STATE_INPUT_REQUIRED')
    await testEngine.cancel(id)
    await testEngine.cancel(id)
    assert.equal(abandoned.length, 1)
    assert.deepEqual(abandoned[0]?.lastCheckpoint, { booking: 7 })
    assert.deepEqual([abandoned[0]?.task.id, abandoned[0]?.task.status.state], [id, 'TASK_STATE_CANCELED'])
    assert.equal(abandoned[0]?.caller.id, 'alice')
  })

  it('is not reported while a turn runs, whose signal aborts', async (t) => {
    for (const [text, state] of [
      ['work', 'TASK_STATE_WORKING'],
      ['ask', 'TASK_STATE_INPUT_REQUIRED'],
    ] as const) {
      const { testEngine, id, abandoned } = await begin(t, text)
      await testEngine.reaches(id, state)
      await testEngine.cancel(id)
      assert.deepEqual(abandoned, [])
    }
  })

  it('is reported to its agent when the input times out', async (t) => {
    const inputTimeout = { afterMs: 10, then: 'fail' } as const
    const { testEngine, id, abandoned } = await begin(t, 'go', { options: { inputTimeout }, sweepMs: 5 })
    const task = await testEngine.reaches(id, 'TASK_STATE_FAILED')
    assert.equal(textOfMessage(task.status.message), 'Input timeout')
    await eventually(async () => abandoned.length === 1)
  })

  it('is reported when it was canceled in a process that died', async (t) => {
    const [begin] = Object.values(crashingStores)
    const life = begin?.(t)
    assert.ok(life !== undefined)
    const abandoned: AbandonedTask[] = []
    const first = await openTestEngine(t, keeping([]), { ...life, options: { cancelGraceMs: 60_000 } })
    const { id } = await first.start('work')
    await eventually(async () => (await first.log(id)).some(({ body }) => body.type === 'checkpoint'))
    const second = await life.crash()
    await second.store.tasks.append(id, {
      expectedSeq: (await second.store.tasks.read(id, 0)).at(-1)?.seq ?? 0,
      records: [{ at: Date.now(), body: { type: 'cancel' } }],
    })
    const testEngine = await openTestEngine(t, keeping(abandoned), second)
    await testEngine.reaches(id, 'TASK_STATE_CANCELED')
    await eventually(async () => abandoned.length === 1)
    assert.deepEqual(abandoned[0]?.lastCheckpoint, { booking: 7 })
  })

  it('ends even if its agent fails to clean up', async (t) => {
    const testEngine = await openTestEngine(t, {
      resume: 'fail',
      run: () => inputRequired('Which city?'),
      onAbandoned() {
        throw new Error('no')
      },
    })
    const { id } = await testEngine.task('go')
    assert.equal(short((await testEngine.cancel(id)).status.state), 'CANCELED')
  })
})
