/** The hub as a program, killed during a run at an OpenClaw gateway. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { connect } from '@parley/a2a/client'
import type { FakeGateway } from './openclaw-gateway/gateway.ts'
import { openFakeGateway } from './openclaw-gateway/gateway.ts'
import { assertEachEventOnce, openOpenclawKillableHub } from './openclaw-killable-hub.ts'
import { textOf, waitUntil } from './openclaw-test-agent.ts'

async function openGateway(t: TestContext): Promise<FakeGateway> {
  const gateway = await openFakeGateway()
  t.after(() => gateway.close())
  return gateway
}

const sent = ({ receivedRequests }: FakeGateway): number =>
  receivedRequests.filter(({ method }) => method === 'agent' || method === 'chat.send').length

describe('a hub that is killed during a run at an OpenClaw gateway', { timeout: 240_000 }, () => {
  it('finds the run after its restart and delivers the rest, with no event lost or doubled', async (t) => {
    const gateway = await openGateway(t)
    const mortal = await openOpenclawKillableHub(gateway)
    await mortal.begin('take your time')
    await gateway.responder.begun()
    await mortal.kill()
    await mortal.start()
    gateway.responder.release()
    assertEachEventOnce(mortal.events, await mortal.readRest(), 'one two three')
    assert.equal(sent(gateway), 1)
    assert.equal(gateway.responder.times('take your time'), 1)
  })

  it('finds the end of a run that ended in the meantime', async (t) => {
    const gateway = await openGateway(t)
    const mortal = await openOpenclawKillableHub(gateway)
    await mortal.begin('take your time')
    await gateway.responder.begun()
    await mortal.kill()
    gateway.responder.release()
    await waitUntil(() => gateway.connections() === 0, 'the gateway to notice')
    gateway.runs.forgetKeys()
    await mortal.start()
    assertEachEventOnce(mortal.events, await mortal.readRest(), 'one two three')
    assert.equal(sent(gateway), 1)
  })

  it('follows the run that the gateway resumed after both were killed', async (t) => {
    const gateway = await openGateway(t)
    const mortal = await openOpenclawKillableHub(gateway)
    await mortal.begin('take your time')
    await gateway.responder.begun()
    await mortal.kill()
    gateway.stop()
    gateway.responder.release()
    gateway.start({ afterMs: 1_500 })
    await mortal.start()
    const task = await mortal.readRest()
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
    assert.equal(textOf(task), 'one two three')
    assert.equal(sent(gateway), 1)
  })

  it('presents an open approval again and accepts the answer', async (t) => {
    const gateway = await openGateway(t)
    gateway.faults.asksForApproval = true
    const mortal = await openOpenclawKillableHub(gateway, ', approvals: caller')
    const asked = await (await mortal.agent()).send('run the command echo hi')
    assert.ok(asked.kind === 'task' && asked.status.state === 'TASK_STATE_INPUT_REQUIRED', JSON.stringify(asked))
    await mortal.kill()
    await mortal.start()
    const agent = await mortal.agent()
    await waitUntil(
      async () => (await agent.get(asked.id)).status.state === 'TASK_STATE_INPUT_REQUIRED',
      'the question',
    )
    const done = await agent.send('allow-once', { taskId: asked.id })
    assert.ok(done.kind === 'task')
    assert.equal(textOf(done), 'Let me see.\n\nIt said: hi')
    assert.equal(sent(gateway), 1)
  })

  it('keeps its device, and one connection for all its agents', async (t) => {
    const gateway = await openGateway(t)
    const mortal = await openOpenclawKillableHub(gateway)
    for (const name of ['bot', 'other']) {
      assert.equal(await (await connect(`${mortal.hub().url}/a2a/${name}`)).ask('count to 2'), '1 2')
    }
    assert.equal(gateway.connections(), 1)
    await mortal.begin('work for ever')
    await gateway.responder.begun()
    await mortal.kill()
    await mortal.start()
    const [{ event, taskId } = { event: undefined, taskId: '' }] = mortal.events.map((one) => ({
      event: one,
      taskId: 'task' in one ? one.task.id : '',
    }))
    assert.ok(event !== undefined)
    assert.equal((await (await mortal.agent()).cancel(taskId)).status.state, 'TASK_STATE_CANCELED')
    // Another device may not stop it.
    await gateway.responder.stopped()
  })
})
