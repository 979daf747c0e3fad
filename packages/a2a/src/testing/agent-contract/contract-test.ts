/** One test of the contract, and how it runs: independent of the test runner, so that the suite itself can be tested. */
import assert from 'node:assert/strict'
import { toAgentResponse, extractText } from '../../client/agent-response.ts'
import type { TaskState } from '../../model/state.ts'
import type { Message, Task } from '../../model/task.ts'
import type { TestCaller } from './test-caller.ts'
import type { AgentHarness } from './harness.ts'
import { type TestEnvironment, type TestEnvironmentOptions, openTestEnvironment } from './test-environment.ts'

export interface ContractTest {
  /** A sentence about the agent. */
  readonly name: string
  /** Rejects if the agent breaks the contract. */
  run(): Promise<void>
}

export type ContractTests = (harness: AgentHarness) => readonly ContractTest[]

/** A test in an environment of its own, which is always cleaned up. */
export function contractTest(
  harness: AgentHarness,
  name: string,
  play: (stage: TestEnvironment) => Promise<void>,
  options: TestEnvironmentOptions = {},
): ContractTest {
  return {
    name,
    async run() {
      const stage = await openTestEnvironment(harness, options)
      try {
        await play(stage)
      } finally {
        await stage.close()
      }
    },
  }
}

/** All text that the caller received, as one string. */
export function answerText(answer: Task | Message): string {
  return extractText(toAgentResponse('status' in answer ? { task: answer } : { message: answer }))
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
  assertSays(answerText(answer), expected, 'the answer')
}

export function assertState(task: Task | Message, state: TaskState): asserts task is Task {
  assert.ok('status' in task, `expected a task, got ${JSON.stringify(task)}`)
  assert.equal(task.status.state, state, `the task says ${JSON.stringify(statusText(task))}`)
}

/** Whatever happened before, the agent responds to the next message. */
export async function assertStillAnswers(
  caller: TestCaller,
  { chat }: AgentHarness,
  contextId?: string,
): Promise<void> {
  assertAnswer(await caller.send(chat.text, contextId === undefined ? {} : { contextId }), chat.answer)
}
