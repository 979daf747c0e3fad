/** More than one message: turns of one context, what is remembered and of whom, and questions back. */
import assert from 'node:assert/strict'
import { newId } from '../../model/id.ts'
import type { AgentHarness } from './harness.ts'
import type { Trial } from './trial.ts'
import { assertAnswer, assertSays, assertState, assertStillAnswers, statusText, textIn, trial } from './trial.ts'
import { inFile } from './mortal-process.ts'
import { stateIn } from './caller.ts'

type Memory = NonNullable<AgentHarness['memory']>

export function conversationTrials(harness: AgentHarness): readonly Trial[] {
  return [...contextTrials(harness), ...memoryTrials(harness), ...questionTrials(harness)]
}

function contextTrials(harness: AgentHarness): readonly Trial[] {
  const { chat } = harness
  return [
    trial(harness, 'answers turns of one context back to back', async (stage) => {
      const caller = stage.caller()
      const contextId = newId()
      for (let round = 0; round < 3; round += 1) {
        const frames = await caller.stream(chat.text, { contextId }).end()
        assert.ok(frames.length > 0, `nothing came in round ${round}`)
        assertAnswer(await caller.send(chat.text, { contextId }), chat.answer)
      }
    }),
    trial(harness, 'answers two tasks of one context that come at the same time', async (stage) => {
      const caller = stage.caller()
      const contextId = newId()
      const exchanges = ['one', 'two'].map((word) => harness.each?.(word) ?? chat)
      await Promise.all(
        exchanges.map(async ({ text, answer }) => assertAnswer(await caller.send(text, { contextId }), answer)),
      )
    }),
  ]
}

function memoryTrials(harness: AgentHarness): readonly Trial[] {
  const { memory } = harness
  if (memory === undefined) return []
  const { tell, ask, expects } = memory
  return [
    trial(
      harness,
      'remembers a conversation, and never that of another caller with the same contextId',
      async (stage) => {
        const [alice, bob] = [stage.caller('alice'), stage.caller('bob')]
        const contextId = newId()
        assertState(await alice.send(tell, { contextId }), 'TASK_STATE_COMPLETED')
        // Refused or ignorant, as the agent likes; but bob must not learn it.
        const overheard = await bob.send(ask, { contextId })
        assert.ok(!textIn(overheard).includes(expects), `bob was told ${JSON.stringify(textIn(overheard))}`)
        assertAnswer(await alice.send(ask, { contextId }), expects)
        const elsewhere = await alice.send(ask, { contextId: newId() })
        assert.ok(!textIn(elsewhere).includes(expects), `another context has it: ${JSON.stringify(textIn(elsewhere))}`)
      },
    ),
    ...(memory.lasts === false ? [] : [afterRestart(harness, memory)]),
  ]
}

function afterRestart(harness: AgentHarness, { tell, ask, expects }: Memory): Trial {
  return trial(
    harness,
    'remembers a conversation after a restart',
    async (stage) => {
      const contextId = newId()
      assertState(await stage.caller().send(tell, { contextId }), 'TASK_STATE_COMPLETED')
      await stage.kill()
      assertAnswer(await stage.caller().send(ask, { contextId }), expects)
      const overheard = await stage.caller('bob').send(ask, { contextId })
      assert.ok(!textIn(overheard).includes(expects), `bob was told ${JSON.stringify(textIn(overheard))}`)
    },
    { lifetimes: inFile },
  )
}

function questionTrials(harness: AgentHarness): readonly Trial[] {
  const { question } = harness
  if (question === undefined) return []
  const { text, asks, answer, then } = question
  return [
    trial(harness, 'asks back, and goes on with the answer in the same task', async (stage) => {
      const caller = stage.caller()
      const asked = await caller.send(text)
      assertState(asked, 'TASK_STATE_INPUT_REQUIRED')
      assertSays(statusText(asked), asks, 'the question')
      const answered = await caller.send(answer, { taskId: asked.id, contextId: asked.contextId as string })
      assertAnswer(answered, then)
      assert.equal((answered as { id?: string }).id, asked.id, 'the answer went to another task')
    }),
    trial(harness, 'asks back by a stream, which ends there', async (stage) => {
      const [last] = (await stage.caller().stream(text).end()).slice(-1)
      assert.equal(last && stateIn(last), 'TASK_STATE_INPUT_REQUIRED', `the last event is ${JSON.stringify(last)}`)
    }),
    trial(harness, 'is canceled while it waits for an answer', async (stage) => {
      const caller = stage.caller()
      const asked = await caller.send(text)
      assertState(asked, 'TASK_STATE_INPUT_REQUIRED')
      assertState(await caller.cancel(asked.id), 'TASK_STATE_CANCELED')
      await assertStillAnswers(caller, harness, asked.contextId)
    }),
    trial(
      harness,
      'takes the answer after a restart and goes on, or fails with a reason',
      async (stage) => {
        const asked = await stage.caller().send(text)
        assertState(asked, 'TASK_STATE_INPUT_REQUIRED')
        await stage.kill()
        const caller = stage.caller()
        const { status } = await caller.get(asked.id)
        // One that failed at the restart takes no answer, and it may do so only now.
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
