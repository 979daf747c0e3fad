/** Commands that an OpenClaw gateway wants approved. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Task } from '@parley/a2a'
import type { OpenclawTestAgent } from './openclaw-test-agent.ts'
import { sendText, openOpenclawTestAgent, statusOf, textOf, waitUntil } from './openclaw-test-agent.ts'

const asking = { entry: { approvals: 'caller' }, trouble: { asksForApproval: true } }
const command = 'run the command echo hi'

async function answer({ agent }: OpenclawTestAgent, { id }: Task, text: string): Promise<Task> {
  return sendText(agent, text, { taskId: id })
}

describe('a command that requires approval at the gateway', () => {
  it('is denied by default, and the run continues', async (t) => {
    const { agent } = await openOpenclawTestAgent(t, { trouble: { asksForApproval: true } })
    const task = await sendText(agent, command)
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
    assert.match(textOf(task), /exec denied/)
  })

  it('is presented to the caller if the entry configures it, and runs if allowed', async (t) => {
    const stage = await openOpenclawTestAgent(t, asking)
    const asked = await sendText(stage.agent, command)
    assert.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED')
    assert.equal(statusOf(asked), 'The agent wants to run a command:\n\necho hi\n\nAnswer allow-once or deny.')
    assert.doesNotMatch(JSON.stringify(asked), /\/home\/claw/)
    const done = await answer(stage, asked, 'allow-once')
    assert.equal(textOf(done), 'Let me see.\n\nIt said: hi')
  })

  it('does not run if denied', async (t) => {
    const stage = await openOpenclawTestAgent(t, asking)
    const done = await answer(stage, await sendText(stage.agent, command), 'no')
    assert.match(textOf(done), /It said: Exec denied \(user-denied\)/)
  })

  it('is presented again after an answer that is not among the options', async (t) => {
    const stage = await openOpenclawTestAgent(t, asking)
    const asked = await sendText(stage.agent, command)
    const again = await answer(stage, asked, 'what for?')
    assert.equal(again.status.state, 'TASK_STATE_INPUT_REQUIRED')
    assert.match(statusOf(again), /^That is not one of the answers/)
    assert.match(textOf(await answer(stage, asked, 'yes')), /It said: hi/)
  })

  it('may be decided at the gateway in the meantime', async (t) => {
    const { agent, gateway } = await openOpenclawTestAgent(t, asking)
    const asked = await sendText(agent, command)
    gateway.approvals.resolve(gateway.approvals.ids()[0] ?? '', 'allow-once')
    await waitUntil(async () => (await agent.get(asked.id)).status.state === 'TASK_STATE_COMPLETED', 'the end')
    assert.match(textOf(await agent.get(asked.id)), /It said: hi/)
  })

  it('is stopped with its run when the task is canceled during the question', async (t) => {
    const { agent, gateway } = await openOpenclawTestAgent(t, asking)
    const asked = await sendText(agent, command)
    assert.equal((await agent.cancel(asked.id)).status.state, 'TASK_STATE_CANCELED')
    await waitUntil(
      () => gateway.receivedRequests.some(({ method }) => method === 'chat.abort'),
      'the run to be stopped',
    )
  })

  it('is found after a lost connection', async (t) => {
    const stage = await openOpenclawTestAgent(t, asking)
    const { agent, gateway } = stage
    gateway.faults.cutAfter = 'chat.send'
    const task = await sendText(agent, command)
    assert.equal(task.status.state, 'TASK_STATE_INPUT_REQUIRED')
    assert.match(textOf(await answer(stage, task, 'allow-once')), /It said: hi/)
    assert.equal(gateway.responder.times('echo hi'), 1)
  })
})
