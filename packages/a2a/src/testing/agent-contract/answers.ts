/** Responses, however they are requested: whole, streamed, in an older version, and many at once. */
import { newest, newestLegacy } from '../../versions/index.ts'
import assert from 'node:assert/strict'
import type { EventFrame } from '../../client/contract.ts'
import { isTerminal } from '../../model/state.ts'
import type { VersionId } from '../../versions/index.ts'
import { chunkTextOf, stateOfFrame, taskIdOfFrame } from './test-caller.ts'
import type { AgentHarness, AgentExchange } from './harness.ts'
import type { TestEnvironment } from './test-environment.ts'
import type { ContractTest } from './contract-test.ts'
import { assertAnswer, assertSays, assertStillAnswers, answerText, contractTest } from './contract-test.ts'

const crowd = 10

export function answerTests(harness: AgentHarness): readonly ContractTest[] {
  const { chat } = harness
  return [
    ...[newest.id, newestLegacy.id].flatMap((version) => [
      contractTest(harness, `answers in ${version}`, async (stage) => {
        assertAnswer(await stage.caller('alice', version).send(chat.text), chat.answer)
      }),
      contractTest(harness, `answers by a stream in ${version}, with its chunks in order`, (stage) =>
        streams(stage, harness, version),
      ),
    ]),
    contractTest(harness, `answers ${crowd} tasks at once, each with its own answer`, async (stage) => {
      await Promise.all(
        Array.from({ length: crowd }, async (_, index) => {
          // Every second one streams, and the callers vary.
          const caller = stage.caller(`caller-${index % 3}`)
          const exchange = harness.each?.(`word${index}`) ?? chat
          if (index % 2 === 0) assertAnswer(await caller.send(exchange.text), exchange.answer)
          else assertStreamSays(await caller.stream(exchange.text).end(), exchange)
        }),
      )
    }),
    contractTest(harness, 'continues when the reader of its stream disconnects', async (stage) => {
      const caller = stage.caller()
      const { slow } = harness
      const { text, answer } = slow ?? chat
      const reading = caller.stream(text)
      const taskId = taskIdOfFrame(await reading.first(() => true))
      await slow?.begun(stage.bench)
      reading.disconnect()
      await slow?.release?.(stage.bench)
      // A direct reply has no task to continue.
      if (taskId !== undefined) {
        assertAnswer(await caller.reaches(taskId, 'TASK_STATE_COMPLETED', 'TASK_STATE_FAILED'), answer)
      }
      await assertStillAnswers(caller, harness)
    }),
  ]
}

async function streams(stage: TestEnvironment, { chat }: AgentHarness, version: VersionId): Promise<void> {
  const caller = stage.caller('alice', version)
  const frames = await caller.stream(chat.text).end()
  assertStreamSays(frames, chat)
  const taskId = taskIdOfFrame(frames[0] as EventFrame)
  if (taskId === undefined) return
  const chunks = frames.map(chunkTextOf).filter((chunk) => chunk !== undefined)
  assert.ok(
    chunks.length >= (chat.pieces ?? 0),
    `expected at least ${chat.pieces} pieces, got ${JSON.stringify(chunks)}`,
  )
  const task = await caller.get(taskId)
  assertAnswer(task, chat.answer)
  if (chunks.length > 0) assert.equal(chunks.join(''), answerText(task), 'the pieces are not what the task has')
}

/** One stream, from its beginning to COMPLETED and no further. */
function assertStreamSays(frames: readonly EventFrame[], { answer }: AgentExchange): void {
  const [first] = frames
  assert.ok(first !== undefined, 'the stream was empty')
  if ('message' in first.event) {
    assertAnswer(first.event.message, answer)
    return
  }
  const last = frames.findIndex((frame) => isTerminal(stateOfFrame(frame) ?? 'TASK_STATE_WORKING'))
  assert.equal(last, frames.length - 1, 'the last event of the stream, and no other, ends the task')
  const [final] = frames.slice(-1)
  assert.equal(final && stateOfFrame(final), 'TASK_STATE_COMPLETED', `the last event is ${JSON.stringify(final)}`)
  const said = frames.map(chunkTextOf).filter((chunk) => chunk !== undefined)
  const text = said.length > 0 ? said.join('') : statusTexts(frames)
  assertSays(text, answer, 'the stream')
}

function statusTexts(frames: readonly EventFrame[]): string {
  return frames
    .map(({ event }) => ('statusUpdate' in event ? event.statusUpdate.status.message : undefined))
    .flatMap((message) => message?.parts ?? [])
    .map((part) => ('text' in part ? part.text : ''))
    .join('')
}
