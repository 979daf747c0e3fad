/** The ends that are no answer: canceled, failed, out of time, shut down. Each lets go of what is behind the agent. */
import assert from 'node:assert/strict'
import type { TaskState } from '../../model/state.ts'
import type { Caller } from './caller.ts'
import { stateIn, taskIdIn } from './caller.ts'
import { leavingNothingOpen } from './handles.ts'
import type { AgentHarness } from './harness.ts'
import type { Stage } from './stage.ts'
import { patienceOf } from './stage.ts'
import type { Trial } from './trial.ts'
import { assertSays, assertState, assertStillAnswers, statusText, trial } from './trial.ts'

export function endingTrials(harness: AgentHarness): readonly Trial[] {
  const { long, failing, deadlineMs = 1_500 } = harness
  const stopped = (stage: Stage): Promise<void> =>
    stage.soon(long.stopped(stage.bench), 'the backend to notice the end')
  return [
    trial(harness, 'is canceled in the middle: the backend notices, and nothing comes after it', async (stage) => {
      const caller = stage.caller()
      const reading = caller.stream(long.text)
      const first = await reading.first((frame) => taskIdIn(frame) !== undefined)
      const taskId = taskIdIn(first) as string
      await stage.soon(long.begun(stage.bench), 'the backend to begin')
      assertState(await caller.cancel(taskId), 'TASK_STATE_CANCELED')
      const frames = await reading.end()
      const [last] = frames.slice(-1)
      assert.equal(last && stateIn(last), 'TASK_STATE_CANCELED', `the stream ended with ${JSON.stringify(last)}`)
      await stopped(stage)
      await assertNothingAfter(caller, taskId, first.id, 'TASK_STATE_CANCELED')
      await assertStillAnswers(caller, harness, (await caller.get(taskId)).contextId)
    }),

    trial(harness, 'is canceled at once, before or while the backend begins', async (stage) => {
      const caller = stage.caller()
      const { id, contextId } = await caller.start(long.text)
      assertState(await caller.cancel(id), 'TASK_STATE_CANCELED')
      assertState(await caller.get(id), 'TASK_STATE_CANCELED')
      await assertStillAnswers(caller, harness, contextId)
      assertState(await caller.get(id), 'TASK_STATE_CANCELED')
    }),

    trial(harness, 'fails when the backend does, and tells the caller no more than it may know', async (stage) => {
      const caller = stage.caller()
      const reading = caller.stream(failing.text)
      const taskId = taskIdIn(await reading.first((frame) => taskIdIn(frame) !== undefined)) as string
      const frames = await reading.end()
      const task = await caller.get(taskId)
      assertState(task, 'TASK_STATE_FAILED')
      const said = statusText(task)
      assert.notEqual(said, '', 'the task failed without a reason')
      if (failing.shown !== undefined) assertSays(said, failing.shown, 'the reason of the failure')
      if (failing.hidden !== undefined) {
        // The caller's own words may be anywhere.
        const told = JSON.stringify([task, frames]).replaceAll(JSON.stringify(failing.text).slice(1, -1), '')
        assert.ok(!told.includes(failing.hidden), `the caller was told ${JSON.stringify(failing.hidden)}: ${told}`)
      }
      await assertStillAnswers(caller, harness)
    }),

    trial(
      harness,
      'fails at its deadline, and the backend is stopped',
      async (stage) => {
        const caller = stage.caller()
        const { id } = await caller.start(long.text)
        await stage.soon(long.begun(stage.bench), 'the backend to begin')
        const task = await caller.reaches(id, 'TASK_STATE_FAILED', 'TASK_STATE_COMPLETED', 'TASK_STATE_CANCELED')
        assertState(task, 'TASK_STATE_FAILED')
        assertSays(statusText(task), 'Task timed out', 'the reason of the failure')
        await stopped(stage)
        await assertStillAnswers(caller, harness)
      },
      { turnTimeoutMs: deadlineMs },
    ),

    {
      name: 'leaves nothing behind when the server is closed in the middle',
      async run() {
        const inner = trial(harness, '', async (stage) => {
          await stage.caller().start(long.text)
          await stage.soon(long.begun(stage.bench), 'the backend to begin')
          await stage.closeServer()
          // What can be picked up again is better left at work.
          if (harness.resume !== 'reattach') await stopped(stage)
        })
        await leavingNothingOpen(inner.run, Math.min(3_000, patienceOf(harness)))
      },
    },
  ]
}

/** The log has no event after the one that ended the task. */
async function assertNothingAfter(caller: Caller, taskId: string, from: string | undefined, state: TaskState) {
  if (from === undefined) return
  const replay = await caller.subscribe(taskId, from).end()
  const states = replay.map(stateIn)
  assert.equal(states.indexOf(state), replay.length - 1, `events after ${state}: ${JSON.stringify(replay)}`)
}
