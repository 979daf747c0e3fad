/** More than one message: turns of one context, memory per caller, and input requests. */
import assert from 'node:assert/strict'
import { newId } from '../../model/id.ts'
import type { AgentHarness } from './harness.ts'
import {
  type ContractTest,
  assertAnswer,
  assertSays,
  assertState,
  assertStillAnswers,
  statusText,
  answerText,
  contractTest,
} from './contract-test.ts'
import { inFile } from './killable-process.ts'
import { stateOfFrame } from './test-caller.ts'

type Memory = NonNullable<AgentHarness['memory']>

export function conversationTests(harness: AgentHarness): readonly ContractTest[] {
  return [...contextTests(harness), ...memoryTests(harness), ...questionTests(harness)]
}

function contextTests(harness: AgentHarness): readonly ContractTest[] {
  const { chat } = harness
  return [
    contractTest(harness, 'answers turns of one context back to back', async (stage) => {
      const caller = stage.caller()
      const contextId = newId()
      for (let round = 0; round < 3; round += 1) {
        const frames = await caller.stream(chat.text, { contextId }).end()
        assert.ok(frames.length > 0, `nothing came in round ${round}`)
        assertAnswer(await caller.send(chat.text, { contextId }), chat.answer)
      }
    }),
    contractTest(harness, 'answers two concurrent tasks of one context', async (stage) => {
      const caller = stage.caller()
      const contextId = newId()
      const exchanges = ['one', 'two'].map((word) => harness.each?.(word) ?? chat)
      await Promise.all(
        exchanges.map(async ({ text, answer }) => assertAnswer(await caller.send(text, { contextId }), answer)),
      )
    }),
  ]
}

function memoryTests(harness: AgentHarness): readonly ContractTest[] {
  const { memory } = harness
  if (memory === undefined) return []
  const { tell, ask, expects } = memory
  return [
    contractTest(
      harness,
      'remembers a conversation, and never that of another caller with the same contextId',
      async (stage) => {
        const [alice, bob] = [stage.caller('alice'), stage.caller('bob')]
        const contextId = newId()
        assertState(await alice.send(tell, { contextId }), 'TASK_STATE_COMPLETED')
        // The agent may refuse or answer without the fact; but bob must not learn it.
        const response = await bob.send(ask, { contextId })
        assert.ok(!answerText(response).includes(expects), `bob got ${JSON.stringify(answerText(response))}`)
        assertAnswer(await alice.send(ask, { contextId }), expects)
        const elsewhere = await alice.send(ask, { contextId: newId() })
        assert.ok(
          !answerText(elsewhere).includes(expects),
          `another context has it: ${JSON.stringify(answerText(elsewhere))}`,
        )
      },
    ),
    ...(memory.lasts === false ? [] : [afterRestart(harness, memory)]),
  ]
}

function afterRestart(harness: AgentHarness, { tell, ask, expects }: Memory): ContractTest {
  return contractTest(
    harness,
    'remembers a conversation after a restart',
    async (stage) => {
      const contextId = newId()
      assertState(await stage.caller().send(tell, { contextId }), 'TASK_STATE_COMPLETED')
      await stage.kill()
      assertAnswer(await stage.caller().send(ask, { contextId }), expects)
      const response = await stage.caller('bob').send(ask, { contextId })
      assert.ok(!answerText(response).includes(expects), `bob got ${JSON.stringify(answerText(response))}`)
    },
    { lifetimes: inFile },
  )
}

function questionTests(harness: AgentHarness): readonly ContractTest[] {
  const { question } = harness
  if (question === undefined) return []
  const { text, asks, answer, then } = question
  return [
    contractTest(harness, 'asks for input, and continues with the answer in the same task', async (stage) => {
      const caller = stage.caller()
      const asked = await caller.send(text)
      assertState(asked, 'TASK_STATE_INPUT_REQUIRED')
      assertSays(statusText(asked), asks, 'the question')
      const answered = await caller.send(answer, { taskId: asked.id, contextId: asked.contextId as string })
      assertAnswer(answered, then)
      assert.equal((answered as { id?: string }).id, asked.id, 'the answer went to another task')
    }),
    contractTest(harness, 'asks for input by a stream, which ends there', async (stage) => {
      const [last] = (await stage.caller().stream(text).end()).slice(-1)
      assert.equal(last && stateOfFrame(last), 'TASK_STATE_INPUT_REQUIRED', `the last event is ${JSON.stringify(last)}`)
    }),
    contractTest(harness, 'is canceled while it waits for an answer', async (stage) => {
      const caller = stage.caller()
      const asked = await caller.send(text)
      assertState(asked, 'TASK_STATE_INPUT_REQUIRED')
      assertState(await caller.cancel(asked.id), 'TASK_STATE_CANCELED')
      await assertStillAnswers(caller, harness, asked.contextId)
    }),
    contractTest(
      harness,
      'accepts the answer after a restart and continues, or fails with a reason',
      async (stage) => {
        const asked = await stage.caller().send(text)
        assertState(asked, 'TASK_STATE_INPUT_REQUIRED')
        await stage.kill()
        const caller = stage.caller()
        const { status } = await caller.get(asked.id)
        // A task that failed at the restart accepts no answer, and it may have failed only now.
        if (status.state === 'TASK_STATE_INPUT_REQUIRED') {
          await caller.send(answer, { taskId: asked.id, contextId: asked.contextId as string }).catch(() => {})
        }
        const task = await caller.reaches(asked.id, 'TASK_STATE_COMPLETED', 'TASK_STATE_FAILED')
        if (task.status.state === 'TASK_STATE_COMPLETED') assertAnswer(task, then)
        else assert.notEqual(statusText(task), '', 'the task failed without a reason')
        await assertStillAnswers(caller, harness, asked.contextId)
      },
      { lifetimes: inFile },
    ),
  ]
}
