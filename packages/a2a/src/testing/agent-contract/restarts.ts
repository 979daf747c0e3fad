/** The process dies in the middle of a turn, or is shut down: what the next process does with the task. */
import assert from 'node:assert/strict'
import type { EventFrame } from '../../client/contract.ts'
import type { Task } from '../../model/task.ts'
import { chunkTextOf, stateOfFrame, taskIdOfFrame } from './test-caller.ts'
import type { AgentHarness } from './harness.ts'
import { inFile, inMemory } from './killable-process.ts'
import type { TestEnvironment } from './test-environment.ts'
import type { ContractTest } from './contract-test.ts'
import { assertSays, assertState, assertStillAnswers, statusText, answerText, contractTest } from './contract-test.ts'

const outcomes = {
  fail: 'fails with a reason',
  rerun: 'runs the turn again',
  reattach: 'continues the turn',
} as const

export function restartTests(harness: AgentHarness): readonly ContractTest[] {
  const outcome = outcomes[harness.resume]
  const restarted = (how: string, end: (stage: TestEnvironment) => Promise<void>, lifetimes = inFile): ContractTest =>
    contractTest(
      harness,
      `${outcome} after ${how}, with no event lost or twice`,
      (stage) => survives(stage, harness, end),
      {
        lifetimes,
      },
    )
  return [
    restarted('its process was killed, over memory', (stage) => stage.kill(), inMemory),
    restarted('its process was killed, over a file', (stage) => stage.kill()),
    restarted('two processes were killed one after the other', async (stage) => {
      await stage.kill()
      await stage.kill()
    }),
    restarted('its server was closed', (stage) => stage.restart()),
  ]
}

async function survives(
  stage: TestEnvironment,
  harness: AgentHarness,
  end: (stage: TestEnvironment) => Promise<void>,
): Promise<void> {
  const { resume, long } = harness
  const slow = harness.slow ?? (resume === 'fail' ? { ...long, answer: '' } : undefined)
  assert.ok(slow !== undefined, `an agent that says ${resume} needs \`slow\` in its harness`)
  const caller = stage.caller()
  const reading = caller.stream(slow.text)
  const first = await reading.first((frame) => taskIdOfFrame(frame) !== undefined)
  const taskId = taskIdOfFrame(first) as string
  await stage.withDeadline(slow.begun(stage.bench), 'the backend to begin')

  // A reader that resumes: what it has read must match the log.
  const before = [...reading.frames]
  reading.disconnect()
  await end(stage)
  const rest = caller.subscribe(taskId, before.at(-1)?.id)
  if (slow.release !== undefined && resume !== 'fail') await slow.release(stage.bench)
  const after = await rest.end()

  const task = await caller.get(taskId)
  assertEnd(task, resume, slow.answer)
  assertOneLog([...before, ...after], await caller.subscribe(taskId, first.id).end(), task)
  await assertStillAnswers(caller, harness, task.contextId)
}

function assertEnd(task: Task, resume: AgentHarness['resume'], answer: string | RegExp): void {
  if (resume === 'fail') {
    assertState(task, 'TASK_STATE_FAILED')
    assert.notEqual(statusText(task), '', 'the task failed without a reason')
    return
  }
  assertState(task, 'TASK_STATE_COMPLETED')
  assertSays(answerText(task), answer, 'the answer')
}

/** What was read across the restart equals a later full replay, and adds up to the task. */
function assertOneLog(read: readonly EventFrame[], replayed: readonly EventFrame[], task: Task): void {
  const ids = read.map(({ id }) => Number(id))
  assert.deepEqual(
    ids,
    [...new Set(ids)].sort((a, b) => a - b),
    'the events did not come each once and in order',
  )
  assert.deepEqual(
    read.slice(1).map(({ event }) => event),
    replayed.map(({ event }) => event),
    'what was read is not what the log has',
  )
  const ends = read.filter((frame) => stateOfFrame(frame) === task.status.state)
  assert.equal(ends.length, 1, `the task ended ${ends.length} times`)
  const texts = textOfChunks(read)
  if (texts !== '') assert.equal(texts, answerText(task), 'the pieces are not what the task has')
}

/** Joined as a client does: a chunk without `append` restarts its artifact. */
function textOfChunks(frames: readonly EventFrame[]): string {
  const artifacts = new Map<string, string>()
  for (const frame of frames) {
    if (!('artifactUpdate' in frame.event)) continue
    const { artifact, append } = frame.event.artifactUpdate
    const before = append === true ? (artifacts.get(artifact.artifactId) ?? '') : ''
    artifacts.set(artifact.artifactId, before + (chunkTextOf(frame) ?? ''))
  }
  return [...artifacts.values()].join('')
}
