/** Ends without a response: canceled, failed, timed out, shut down. Each releases the resources behind the agent. */
import assert from 'node:assert/strict'
import type { TaskState } from '../../model/state.ts'
import { type TestCaller, stateOfFrame, taskIdOfFrame } from './test-caller.ts'
import { assertNoOpenHandles } from './open-handles.ts'
import type { AgentHarness } from './harness.ts'
import { type TestEnvironment, timeoutOf } from './test-environment.ts'
import type { ContractTest } from './contract-test.ts'
import { assertSays, assertState, assertStillAnswers, statusText, contractTest } from './contract-test.ts'

export function endingTests(harness: AgentHarness): readonly ContractTest[] {
  const { long, failing, deadlineMs = 1_500 } = harness
  const stopped = (stage: TestEnvironment): Promise<void> =>
    stage.withDeadline(long.stopped(stage.bench), 'the backend to notice the end')
  return [
    contractTest(
      harness,
      'is canceled in the middle: the backend notices, and nothing comes after it',
      async (stage) => {
        const caller = stage.caller()
        const reading = caller.stream(long.text)
        const first = await reading.first((frame) => taskIdOfFrame(frame) !== undefined)
        const taskId = taskIdOfFrame(first) as string
        await stage.withDeadline(long.begun(stage.bench), 'the backend to begin')
        assertState(await caller.cancel(taskId), 'TASK_STATE_CANCELED')
        const frames = await reading.end()
        const [last] = frames.slice(-1)
        assert.equal(last && stateOfFrame(last), 'TASK_STATE_CANCELED', `the stream ended with ${JSON.stringify(last)}`)
        await stopped(stage)
        await assertNothingAfter(caller, taskId, first.id, 'TASK_STATE_CANCELED')
        await assertStillAnswers(caller, harness, (await caller.get(taskId)).contextId)
      },
    ),

    contractTest(harness, 'is canceled at once, before or while the backend starts', async (stage) => {
      const caller = stage.caller()
      const { id, contextId } = await caller.start(long.text)
      assertState(await caller.cancel(id), 'TASK_STATE_CANCELED')
      assertState(await caller.get(id), 'TASK_STATE_CANCELED')
      await assertStillAnswers(caller, harness, contextId)
      assertState(await caller.get(id), 'TASK_STATE_CANCELED')
    }),

    contractTest(
      harness,
      'fails when the backend does, and tells the caller no more than it may know',
      async (stage) => {
        const caller = stage.caller()
        const reading = caller.stream(failing.text)
        const taskId = taskIdOfFrame(await reading.first((frame) => taskIdOfFrame(frame) !== undefined)) as string
        const frames = await reading.end()
        const task = await caller.get(taskId)
        assertState(task, 'TASK_STATE_FAILED')
        const said = statusText(task)
        assert.notEqual(said, '', 'the task failed without a reason')
        if (failing.shown !== undefined) assertSays(said, failing.shown, 'the reason of the failure')
        if (failing.hidden !== undefined) {
          // The caller's own text may appear anywhere.
          const received = JSON.stringify([task, frames]).replaceAll(JSON.stringify(failing.text).slice(1, -1), '')
          assert.ok(
            !received.includes(failing.hidden),
            `the caller received ${JSON.stringify(failing.hidden)}: ${received}`,
          )
        }
        await assertStillAnswers(caller, harness)
      },
    ),

    contractTest(
      harness,
      'fails at its deadline, and the backend is stopped',
      async (stage) => {
        const caller = stage.caller()
        const { id } = await caller.start(long.text)
        await stage.withDeadline(long.begun(stage.bench), 'the backend to begin')
        const task = await caller.reaches(id, 'TASK_STATE_FAILED', 'TASK_STATE_COMPLETED', 'TASK_STATE_CANCELED')
        assertState(task, 'TASK_STATE_FAILED')
        assertSays(statusText(task), 'Task timed out', 'the reason of the failure')
        await stopped(stage)
        await assertStillAnswers(caller, harness)
      },
      { turnTimeoutMs: deadlineMs },
    ),

    {
      name: 'leaves nothing behind when the server is closed during a turn',
      async run() {
        const inner = contractTest(harness, '', async (stage) => {
          await stage.caller().start(long.text)
          await stage.withDeadline(long.begun(stage.bench), 'the backend to begin')
          await stage.closeServer()
          // An agent that can reattach leaves its backend running.
          if (harness.resume !== 'reattach') await stopped(stage)
        })
        await assertNoOpenHandles(inner.run, Math.min(3_000, timeoutOf(harness)))
      },
    },
  ]
}

/** The log has no event after the one that ended the task. */
async function assertNothingAfter(caller: TestCaller, taskId: string, from: string | undefined, state: TaskState) {
  if (from === undefined) return
  const replay = await caller.subscribe(taskId, from).end()
  const states = replay.map(stateOfFrame)
  assert.equal(states.indexOf(state), replay.length - 1, `events after ${state}: ${JSON.stringify(replay)}`)
}
