/** One promise of the contract, and how it is tried: apart from the test runner, so that the suite itself can be tested. */
import assert from 'node:assert/strict'
import { answerOf, textSaid } from '../../client/answer.ts'
import type { TaskState } from '../../model/state.ts'
import type { Message, Task } from '../../model/task.ts'
import type { Caller } from './caller.ts'
import type { AgentHarness } from './harness.ts'
import type { Stage, StageOptions } from './stage.ts'
import { openStage } from './stage.ts'

export interface Trial {
  /** A sentence about the agent. */
  readonly name: string
  /** Rejects where the agent breaks the promise. */
  run(): Promise<void>
}

export type Promised = (harness: AgentHarness) => readonly Trial[]

/** A trial on a stage of its own, which is cleared in any case. */
export function trial(
  harness: AgentHarness,
  name: string,
  play: (stage: Stage) => Promise<void>,
  options: StageOptions = {},
): Trial {
  return {
    name,
    async run() {
      const stage = await openStage(harness, options)
      try {
        await play(stage)
      } finally {
        await stage.close()
      }
    },
  }
}

/** Everything that was said to the caller, as one text. */
export function textIn(answer: Task | Message): string {
  return textSaid(answerOf('status' in answer ? { task: answer } : { message: answer }))
}

export function statusText({ status }: Task): string {
  return (status.message?.parts ?? []).map((part) => ('text' in part ? part.text : '')).join('')
}

export function assertSays(text: string, expected: string | RegExp, what: string): void {
  const fits = typeof expected === 'string' ? text.includes(expected) : expected.test(text)
  assert.ok(fits, `${what}: expected ${String(expected)}, got ${JSON.stringify(text)}`)
}

export function assertAnswer(answer: Task | Message, expected: string | RegExp): void {
  if ('status' in answer) assertState(answer, 'TASK_STATE_COMPLETED')
  assertSays(textIn(answer), expected, 'the answer')
}

export function assertState(task: Task | Message, state: TaskState): asserts task is Task {
  assert.ok('status' in task, `expected a task, got ${JSON.stringify(task)}`)
  assert.equal(task.status.state, state, `the task says ${JSON.stringify(statusText(task))}`)
}

/** Whatever happened before, the agent is there for the next message. */
export async function assertStillAnswers(caller: Caller, { chat }: AgentHarness, contextId?: string): Promise<void> {
  assertAnswer(await caller.send(chat.text, contextId === undefined ? {} : { contextId }), chat.answer)
}
