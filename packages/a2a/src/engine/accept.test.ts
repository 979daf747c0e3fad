/** A message that comes again, and messages that find their task by what they answer. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Agent, AgentFunction } from '../agents/agent.ts'
import { inputRequired, reply } from '../agents/reports.ts'
import { clientToolsExtension } from '../model/extension.ts'
import { memoryStore } from '../stores/memory.ts'
import { answerOf, historyOf, openHouse, short, statesOf } from '../testing/engine-fixture.ts'

const message = { messageId: 'm1', parts: [{ text: 'once' }] }

/** Counts how often it was called. */
function counted(agent: AgentFunction): AgentFunction & { calls: number } {
  const call: AgentFunction = (turn) => {
    counting.calls += 1
    return agent(turn)
  }
  const counting = Object.assign(call, { calls: 0 })
  return counting
}

describe('a message that comes again', () => {
  it('while the first is underway joins it: one task, one run, one answer [B-163]', async (t) => {
    const agent = counted(async () => {
      await sleep(10)
      return 'done'
    })
    const house = await openHouse(t, agent)
    const tasks = await Promise.all(Array.from({ length: 10 }, () => house.task(message)))
    for (const task of tasks) assert.deepEqual(task, tasks[0])
    assert.equal(answerOf(tasks[0] ?? assert.fail()), 'done')
    assert.equal(agent.calls, 1)
  })

  it('after the task opened joins it, and waits for its end like the first [B-163]', async (t) => {
    const gate = Promise.withResolvers<void>()
    const agent = counted(async () => {
      await gate.promise
      return 'done'
    })
    const house = await openHouse(t, agent)
    const started = await house.start(message)
    const again = house.task(message)
    gate.resolve()
    assert.equal((await again).id, started.id)
    assert.equal(short((await again).status.state), 'COMPLETED')
    assert.equal(agent.calls, 1)
  })

  it('after the end is answered with the same task [B-163]', async (t) => {
    const agent = counted(() => 'done')
    const house = await openHouse(t, agent)
    const first = await house.task(message)
    assert.deepEqual(await house.task(message), first)
    assert.equal(agent.calls, 1)
  })

  it('as a stream carries the same task, from where it is to its end [B-163]', async (t) => {
    const gate = Promise.withResolvers<void>()
    const house = await openHouse(t, async function* () {
      yield 'a'
      await gate.promise
      yield 'b'
    })
    const { id } = await house.start(message)
    const stream = await house.stream(message)
    const first = await stream.next()
    assert.ok(first !== undefined && 'task' in first.event)
    assert.equal(first.event.task.id, id)
    gate.resolve()
    assert.equal(statesOf(await stream.rest()).at(-1), 'COMPLETED')
    const ended = await (await house.stream(message)).rest()
    assert.deepEqual(
      ended.map(({ event }) => event),
      [{ task: await house.get(id) }],
    )
    assert.equal(ended[0]?.final, true)
  })

  it('and was a follow-up is not delivered twice [B-163]', async (t) => {
    const agent = counted(({ text }) => (text === 'ask' ? inputRequired('Which?') : inputRequired(`${text}?`)))
    const house = await openHouse(t, agent)
    const { id } = await house.task('ask')
    const answer = { messageId: 'm2', taskId: id, parts: [{ text: 'Rome' }] }
    const both = await Promise.all([house.task(answer), house.task(answer)])
    assert.deepEqual(both[0], both[1])
    assert.deepEqual(await house.task(answer), both[0])
    assert.deepEqual(historyOf(both[0]), ['ask', 'Which?', 'Rome'])
    assert.equal(agent.calls, 2)
  })

  it('is answered by the same task even when that has ended since [B-163 B-43]', async (t) => {
    const house = await openHouse(t, ({ text }) => (text === 'ask' ? inputRequired('Which?') : 'done'))
    const { id } = await house.task('ask')
    const answer = { messageId: 'm2', taskId: id, parts: [{ text: 'Rome' }] }
    const done = await house.task(answer)
    assert.equal(short(done.status.state), 'COMPLETED')
    assert.deepEqual(await house.task(answer), done)
  })

  it('and was answered by a Message gets the same Message, underway or done [B-163]', async (t) => {
    const agent = counted(async () => {
      await sleep(5)
      return reply('Hi')
    })
    const house = await openHouse(t, agent)
    const [first, second] = await Promise.all([house.send(message), house.send(message)])
    assert.ok('message' in first)
    assert.deepEqual(second, first)
    assert.deepEqual(await house.send(message), first)
    assert.equal(agent.calls, 1)
  })

  it('with other content is a mistake, whatever became of the first [B-163]', async (t) => {
    const house = await openHouse(t, async ({ text }) => {
      await sleep(5)
      return text === 'reply' ? reply('Hi') : 'done'
    })
    for (const text of ['reply', 'task']) {
      const first = { messageId: text, parts: [{ text }] }
      const other = { messageId: text, parts: [{ text: 'another' }] }
      const underway = house.send(first)
      await assert.rejects(house.send(other), { code: 'MESSAGE_ID_REUSED' })
      await underway
      await assert.rejects(house.send(other), { code: 'MESSAGE_ID_REUSED' })
      await assert.rejects(house.stream(other), { code: 'MESSAGE_ID_REUSED' })
    }
  })

  it('from another caller, for another agent or tenant is another message [B-163]', async (t) => {
    const house = await openHouse(t, () => 'done')
    const contexts = [{}, { caller: { id: 'bob' } }, { agent: 'another' }, { tenant: 'acme' }]
    const tasks = await Promise.all(contexts.map((as) => house.task(message, { as })))
    assert.equal(new Set(tasks.map(({ id }) => id)).size, 4)
  })

  it('after the window is a new message, and so is each where there is no window [B-163]', async (t) => {
    let now = Date.now()
    const house = await openHouse(t, () => 'done', { now: () => now, store: memoryStore({ now: () => now }) })
    const first = await house.task(message)
    now += 60_000
    assert.notEqual((await house.task(message)).id, first.id)
    const without = await openHouse(t, () => 'done', { options: { duplicateWindowMs: 0 } })
    assert.notEqual((await without.task(message)).id, (await without.task(message)).id)
  })

  it('to another engine over the same store finds the task there [B-163]', async (t) => {
    const agent = counted(() => 'done')
    const store = memoryStore({ leaseTtlMs: 1_000 })
    const [here, there] = [await openHouse(t, agent, { store }), await openHouse(t, agent, { store })]
    const first = await here.task(message)
    assert.deepEqual(await there.task(message), first)
    assert.equal(agent.calls, 1)
  })

  it('to two engines at the same moment makes one task [B-163]', async (t) => {
    const store = memoryStore({ leaseTtlMs: 1_000 })
    const agent: Agent = async () => {
      await sleep(1)
      return 'done'
    }
    const [here, there] = [await openHouse(t, agent, { store }), await openHouse(t, agent, { store })]
    for (let run = 0; run < 20; run += 1) {
      const same = { messageId: `m${run}` }
      const [a, b] = await Promise.all([here.task(same), there.task(same)])
      assert.equal(a.id, b.id)
      assert.deepEqual(a, b)
    }
    assert.equal((await store.list({ tenant: '', agent: 'agent', owner: 'alice', limit: 100 })).total, 20)
  })
})

describe('the answer to a tool call', () => {
  const call = (toolUseId: string) =>
    inputRequired({
      parts: [{ data: { toolUseId, name: 'search' }, metadata: { [clientToolsExtension]: { type: 'tool-use' } } }],
    })
  const result = (toolUseId: string) => [
    { data: { toolUseId, content: 'found' }, metadata: { [clientToolsExtension]: { type: 'tool-result' } } },
  ]
  const agent: Agent = ({ text, message }) =>
    text === 'ask' ? call('t1') : text === 'other' ? call('t2') : `got ${message.parts.length}`

  it('continues the task that it refers to, if that waits for just this answer', async (t) => {
    const house = await openHouse(t, agent)
    const [asked, other] = [await house.task('ask'), await house.task('other')]
    const done = await house.task({ parts: result('t1'), referenceTaskIds: [other.id, asked.id, 'unknown'] })
    assert.equal(done.id, asked.id)
    assert.equal(short(done.status.state), 'COMPLETED')
    assert.equal(short((await house.get(other.id)).status.state), 'INPUT_REQUIRED')
  })

  it('is a message of its own if it is nobody’s, or another caller’s', async (t) => {
    const house = await openHouse(t, agent)
    const asked = await house.task('ask')
    const referenceTaskIds = [asked.id]
    assert.notEqual((await house.task({ parts: result('t9'), referenceTaskIds })).id, asked.id)
    const stranger = { caller: { id: 'bob' } }
    assert.notEqual((await house.task({ parts: result('t1'), referenceTaskIds }, { as: stranger })).id, asked.id)
    assert.equal(short((await house.get(asked.id)).status.state), 'INPUT_REQUIRED')
  })
})
