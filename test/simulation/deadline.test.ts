/** How long a turn may take, in simulated time. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryStore } from '../../packages/a2a/src/stores/memory/memory-store.ts'
import {
  artifactText,
  openTestEngine,
  textOfMessage,
  short,
} from '../../packages/a2a/src/testing/fixtures/test-engine.ts'
import type { TestEngine } from '../../packages/a2a/src/testing/fixtures/test-engine.ts'
import type { Agent } from '../../packages/a2a/src/agents/agent.ts'
import { simulate } from './simulated-time.ts'
import { simulatedSigner } from './simulated-signer.ts'
import type { SimulatedTime } from './simulated-time.ts'

const turnTimeoutMs = 400

async function simulated(
  agentIn: (time: SimulatedTime) => Agent,
  test: (testEngine: TestEngine, time: SimulatedTime) => Promise<void>,
): Promise<void> {
  await simulate(async (time) => {
    const now = (): number => Date.UTC(2030, 0, 1) + time.now()
    const options = { now, signer: simulatedSigner, store: memoryStore({ now }), options: { turnTimeoutMs } }
    const testEngine = await openTestEngine({ after: () => {} }, agentIn(time), options)
    try {
      await test(testEngine, time)
    } finally {
      await testEngine.engine.close()
    }
  })
}

/** Works for this long before each of its two questions. */
const asking =
  (workMs: number) =>
  ({ sleep }: SimulatedTime): Agent =>
  async (turn) => {
    await sleep(workMs)
    const first = await turn.ask('One?')
    await sleep(workMs)
    return `${first}, ${await turn.ask('Two?')}`
  }

describe('the deadline of a turn, in simulated time', () => {
  it('starts again for each turn, and stops while the task waits for an answer [S0-20]', () =>
    simulated(asking(turnTimeoutMs - 10), async (testEngine, { sleep }) => {
      const { id } = await testEngine.task('go')
      assert.equal((await testEngine.store.tasks.load(id))?.due, undefined)
      await sleep(2 * turnTimeoutMs)
      assert.equal(
        short((await testEngine.task({ taskId: id, parts: [{ text: 'a' }] })).status.state),
        'INPUT_REQUIRED',
      )
      await sleep(2 * turnTimeoutMs)
      assert.equal(artifactText(await testEngine.task({ taskId: id, parts: [{ text: 'b' }] })), 'a, b')
    }))

  it('ends a turn that exceeds it', () =>
    simulated(asking(turnTimeoutMs + 100), async (testEngine) => {
      const task = await testEngine.task('go')
      assert.deepEqual([short(task.status.state), textOfMessage(task.status.message)], ['FAILED', 'Task timed out'])
    }))
})
