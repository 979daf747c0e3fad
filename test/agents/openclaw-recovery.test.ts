/** What happens to a turn when the connection, the gateway or this process fails during it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Task } from '@parley/a2a'
import type { TestAgent } from '@parley/a2a/testing'
import type { OpenclawTestAgent } from './openclaw-test-agent.ts'
import { sendText, joinChunks, openOpenclawTestAgent, statusOf, textOf, waitUntil } from './openclaw-test-agent.ts'

async function begin({ agent, gateway }: OpenclawTestAgent, text = 'take your time'): Promise<Task> {
  const task = (await agent.send(text, { returnImmediately: true })) as Task
  await gateway.responder.begun()
  return task
}

async function end(agent: TestAgent, { id }: Task): Promise<Task> {
  await waitUntil(
    async () => /COMPLETED|FAILED|CANCELED/.test((await agent.get(id)).status.state),
    'the end of the task',
  )
  return agent.get(id)
}

/** How the run of its first turn ended at the gateway. */
async function endOf({ gateway }: OpenclawTestAgent, { id }: Task): Promise<unknown> {
  const answer = await gateway.runs.wait({ runId: `${id}-1`, timeoutMs: 5_000 })
  return 'payload' in answer ? (answer.payload as { readonly status: unknown }).status : undefined
}

const times = ({ gateway }: OpenclawTestAgent, method: string): number =>
  gateway.receivedRequests.filter((one) => one.method === method).length

describe('when the connection breaks during a turn,', () => {
  it('the turn is found at the next one, with each word once', async (t) => {
    const stage = await openOpenclawTestAgent(t)
    const { agent, gateway } = stage
    const stream = agent.stream('take your time')
    const chunks: [string, boolean][] = []
    const reading = (async () => {
      for await (const event of stream) {
        if (!('artifactUpdate' in event)) continue
        const { artifact, append } = event.artifactUpdate
        chunks.push([artifact.parts.map((part) => ('text' in part ? part.text : '')).join(''), append === true])
      }
    })()
    await gateway.responder.begun()
    await waitUntil(() => chunks.length === 1, 'the first word')
    gateway.cut()
    await waitUntil(() => times(stage, 'chat.history') > 0, 'the question what became of it')
    gateway.responder.release()
    await reading
    assert.equal(joinChunks(chunks), 'one two three')
    assert.ok(
      chunks.slice(1).every(([, append]) => append),
      JSON.stringify(chunks),
    )
    assert.equal(times(stage, 'agent'), 1)
    assert.equal(gateway.responder.times('take your time'), 1)
  })

  it('before the gateway got the message, the message is sent again', async (t) => {
    const stage = await openOpenclawTestAgent(t, { trouble: { cutOn: 'agent' } })
    assert.equal(textOf(await sendText(stage.agent, 'count to 3')), '1 2 3')
    assert.equal(times(stage, 'agent'), 2)
    assert.equal(stage.gateway.responder.times('count to 3'), 1)
  })

  it('before the gateway acknowledged the message, the message is not run twice', async (t) => {
    const stage = await openOpenclawTestAgent(t, { trouble: { cutAfter: 'agent' } })
    assert.equal(textOf(await sendText(stage.agent, 'count to 30')).split(' ').length, 30)
    assert.equal(stage.gateway.responder.times('count to 30'), 1)
  })

  it('and the run ended in the meantime, the hub reads its end, also if the gateway has forgotten the key', async (t) => {
    const stage = await openOpenclawTestAgent(t)
    const { agent, gateway } = stage
    const task = await begin(stage)
    gateway.faults.noWebSocket = true
    gateway.cut()
    gateway.responder.release()
    assert.equal(await endOf(stage, task), 'ok')
    await waitUntil(() => gateway.connectionAttempts() > 1, 'a try to come back')
    gateway.runs.forgetKeys()
    gateway.faults.noWebSocket = false
    assert.equal(textOf(await end(agent, task)), 'one two three')
    assert.equal(times(stage, 'agent'), 1)
  })

  it('the hub finds its whole output, not only the last part', async (t) => {
    const stage = await openOpenclawTestAgent(t, { entry: { approvals: 'caller' }, trouble: { asksForApproval: true } })
    const { agent, gateway } = stage
    const asked = await sendText(agent, 'run the command echo hi')
    gateway.faults.noWebSocket = true
    gateway.cut()
    const [id = ''] = gateway.approvals.ids()
    gateway.approvals.resolve(id, 'allow-once')
    await waitUntil(() => gateway.connectionAttempts() > 1, 'a try to come back')
    gateway.faults.noWebSocket = false
    assert.equal(textOf(await end(agent, asked)), 'Let me see.\n\nIt said: hi')
  })

  it('the turn can still be canceled over the next connection, as the same device', async (t) => {
    const stage = await openOpenclawTestAgent(t)
    const { agent, gateway } = stage
    const task = await begin(stage, 'work for ever')
    gateway.cut()
    assert.equal((await agent.cancel(task.id)).status.state, 'TASK_STATE_CANCELED')
    await gateway.responder.stopped()
  })

  it('a new process without the device key cannot stop the run, and logs it', async (t) => {
    const stage = await openOpenclawTestAgent(t, { entry: { device: false } })
    const { agent, gateway, bench } = stage
    const task = await begin(stage, 'work for ever')
    gateway.cut()
    await waitUntil(() => gateway.connections() === 1 && times(stage, 'chat.history') > 0, 'another connection')
    assert.equal((await agent.cancel(task.id)).status.state, 'TASK_STATE_CANCELED')
    await waitUntil(() => JSON.stringify(bench.lines).includes('does not stop a run'), 'a line in the log')
  })

  it('silently, the hub detects the silence', async (t) => {
    const stage = await openOpenclawTestAgent(t, { trouble: { tickMs: 40 } })
    const { agent, gateway } = stage
    const task = await begin(stage)
    gateway.silence()
    await waitUntil(() => gateway.connectionAttempts() > 1, 'another connection')
    gateway.responder.release()
    assert.equal(textOf(await end(agent, task)), 'one two three')
  })
})

describe('when the connection breaks repeatedly,', () => {
  for (const entry of [{}, { approvals: 'caller' }]) {
    const way = 'approvals' in entry ? 'chat.send' : 'agent'
    it(`every turn by ${way} is answered completely and run once`, async (t) => {
      const { agent, gateway } = await openOpenclawTestAgent(t, { entry })
      // A connection is cut after it was used: on a slow machine, one that lives only for 130 ms may never be.
      let used = 0
      const cutting = setInterval(() => {
        if (gateway.receivedRequests.length === used) return
        used = gateway.receivedRequests.length
        gateway.cut()
      }, 130)
      t.after(() => clearInterval(cutting))
      const counts = Array.from({ length: 12 }, (_, index) => 20 + index)
      const tasks = await Promise.all(counts.map((count) => sendText(agent, `count to ${count}`)))
      clearInterval(cutting)
      for (const [index, count] of counts.entries()) {
        const numbers = Array.from({ length: count }, (_, number) => number + 1).join(' ')
        assert.equal(textOf(tasks[index] as Task), numbers)
        assert.equal(gateway.responder.times(`count to ${count}`), 1, `count to ${count} was run again`)
      }
    })
  }
})

describe('when the gateway restarts during a turn,', () => {
  for (const politely of [true, false]) {
    it(`${politely ? 'with' : 'without'} a shutdown notice, the hub follows the run that the gateway resumes`, async (t) => {
      const stage = await openOpenclawTestAgent(t)
      const { agent, gateway } = stage
      const task = await begin(stage)
      gateway.stop(politely)
      gateway.responder.release()
      gateway.start()
      const done = await end(agent, task)
      assert.equal(done.status.state, 'TASK_STATE_COMPLETED')
      assert.equal(textOf(done), 'one two three')
      assert.equal(times(stage, 'agent'), 1, 'the message was sent again')
    })
  }

  it('repeated text is not delivered twice, even from another run', async (t) => {
    const stage = await openOpenclawTestAgent(t)
    const { agent, gateway } = stage
    const task = await begin(stage)
    gateway.stop()
    gateway.start()
    await waitUntil(() => gateway.responder.times('take your time') === 2, 'the run that takes it up')
    gateway.responder.release()
    assert.equal(textOf(await end(agent, task)), 'one two three')
  })

  it('and does not resume the run, the task fails with a reason and is not run again', async (t) => {
    const stage = await openOpenclawTestAgent(t)
    const { agent, gateway } = stage
    const task = await begin(stage)
    gateway.stop()
    gateway.start({ takesUp: false })
    const done = await end(agent, task)
    assert.equal(done.status.state, 'TASK_STATE_FAILED')
    assert.equal(statusOf(done), 'The OpenClaw gateway was restarted, and the task was lost there')
    assert.equal(times(stage, 'agent'), 1)
  })

  it('and the run had ended, the hub reads its answer from the transcript', async (t) => {
    const stage = await openOpenclawTestAgent(t)
    const { agent, gateway } = stage
    const task = await begin(stage)
    gateway.faults.noWebSocket = true
    gateway.cut()
    gateway.responder.release()
    await waitUntil(() => gateway.connectionAttempts() > 1, 'a try to come back')
    gateway.stop()
    gateway.faults.noWebSocket = false
    gateway.start({ takesUp: false })
    assert.equal(textOf(await end(agent, task)), 'one two three')
  })

  it('the next turn goes to the new process', async (t) => {
    const { agent, gateway } = await openOpenclawTestAgent(t)
    assert.equal(textOf(await sendText(agent, 'count to 2')), '1 2')
    gateway.stop()
    gateway.start()
    assert.equal(textOf(await sendText(agent, 'count to 3')), '1 2 3')
  })
})

describe('when the hub shuts down,', () => {
  it('its runs continue at the gateway', async (t) => {
    const stage = await openOpenclawTestAgent(t)
    const { agent, gateway } = stage
    const task = await begin(stage)
    await agent.close()
    await stage.bench.close()
    await waitUntil(() => gateway.connections() === 0, 'the end of the connection')
    assert.equal(times(stage, 'chat.abort'), 0)
    gateway.responder.release()
    assert.equal(await endOf(stage, task), 'ok')
  })
})
