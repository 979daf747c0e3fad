import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { authRequired, data, fail, inputRequired, status } from '@parley/a2a'
import type { Agent, StreamEvent, Struct, Task } from '@parley/a2a'
import { testInProcessClient } from '../../packages/hub/src/agents/testing/test-in-process-client.ts'
import { scriptCallingOnce, createLoopFixture, toolResultsIn } from './loop-fixture.ts'

async function open(t: TestContext, agents: Readonly<Record<string, Agent>>, ...asked: readonly string[]) {
  const inProcessClient = testInProcessClient(agents)
  t.after(() => inProcessClient.close())
  const names = Object.keys(agents)
  const calls = (asked.length > 0 ? asked : names).map((name, index) => ({
    name: `ask_${name}`,
    input: { message: `for ${name}` },
    id: `c${index}`,
  }))
  const tools = names.map((agent) => ({ agent }))
  const fixture = await createLoopFixture(t, scriptCallingOnce(...calls), tools, { inProcessClient })
  return { inProcessClient, bench: fixture, agent: await fixture.agent() }
}

const textsIn = (events: readonly StreamEvent[]) =>
  events.flatMap((event) => ('statusUpdate' in event ? (event.statusUpdate.status.message?.parts ?? []) : []))
const waits = (task: Task, state: string): void => assert.equal(task.status.state, `TASK_STATE_${state}`)

describe('another agent of the hub as a tool', () => {
  it('runs as a real task, which observers find', async (t) => {
    const writer: Agent = async function* ({ text }) {
      yield status('Thinking')
      yield 'A poem '
      yield text
      yield data({ lines: 1 })
    }
    const { inProcessClient, bench: fixture, agent } = await open(t, { writer })
    const events = await agent.stream('A poem, please').all()
    assert.deepEqual(toolResultsIn((await fixture.model.request(2)).body), ['A poem for writer\n{"lines":1}'])
    const [call] = inProcessClient.calls
    assert.deepEqual([call?.agent, call?.message.parts], ['writer', [{ text: 'for writer' }]])
    const referred = events.flatMap((event) =>
      'statusUpdate' in event ? (event.statusUpdate.status.message?.referenceTaskIds ?? []) : [],
    )
    const [child = ''] = referred
    assert.equal(JSON.stringify(textsIn(events)).match(/: running/g)?.length, 1)
    assert.equal((await inProcessClient.agent('writer').get(child)).status.state, 'TASK_STATE_COMPLETED')
    const parent = 'task' in (events[0] as object) ? (events[0] as { task: Task }).task : undefined
    assert.equal(call?.contextId, parent?.contextId)
  })

  it('may reply with a message, fail, or be unavailable', async (t) => {
    const agents: Record<string, Agent> = {
      quick: () => ({ reply: 'At once' }),
      sad: () => fail('Upstream is down'),
      hidden: () => 'secret',
    }
    const { inProcessClient, bench: fixture, agent } = await open(t, agents)
    inProcessClient.hidden.add('hidden')
    await agent.send('go')
    const { body } = await fixture.model.request(2)
    const [quick, sad, hidden] = toolResultsIn(body)
    assert.equal(quick, 'At once')
    assert.match(sad ?? '', /The tool failed: The agent sad did not complete the task: Upstream is down/)
    assert.match(hidden ?? '', /Unknown tool "ask_hidden"/)
    assert.deepEqual(
      body.tools?.map(({ function: { name } }) => name),
      ['ask_quick', 'ask_sad'],
    )
  })

  it('is canceled with the task that asked it', async (t) => {
    const begun = Promise.withResolvers<string>()
    const slow: Agent = ({ task, signal }) => {
      begun.resolve(task.id)
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
    }
    const { inProcessClient, agent } = await open(t, { slow })
    const { id } = (await agent.send('go', { returnImmediately: true })) as Task
    const child = await begun.promise
    // Until the parent has received the child task, it has nothing to cancel.
    for (;;) {
      const events = textsIn(await collect(agent.subscribe(id), (event) => 'statusUpdate' in event))
      if (JSON.stringify(events).includes(': running')) break
    }
    await agent.cancel(id)
    for (;;) {
      const { status: at } = await inProcessClient.agent('slow').get(child)
      if (at.state === 'TASK_STATE_CANCELED') break
    }
  })

  it('asks for input: questions reach the caller and answers reach the child, one after the other', async (t) => {
    const asker =
      (question: string): Agent =>
      async ({ text, history }) =>
        (await history()).length > 1 ? `${question} ${text}` : inputRequired(question)
    const { inProcessClient, agent } = await open(t, { city: asker('Which city?'), day: asker('Which day?') })
    const first = (await agent.send('go')) as Task
    waits(first, 'INPUT_REQUIRED')
    assert.deepEqual(first.status.message?.parts, [{ text: 'Which city?' }])
    assert.equal(first.status.message.referenceTaskIds?.length, 1)
    const second = (await agent.send('Lisbon', { taskId: first.id })) as Task
    waits(second, 'INPUT_REQUIRED')
    assert.deepEqual(second.status.message?.parts, [{ text: 'Which day?' }])
    const last = (await agent.send('Monday', { taskId: first.id })) as Task
    waits(last, 'COMPLETED')
    const said = (last.artifacts ?? []).flatMap(({ parts }) => parts)
    assert.deepEqual(said, [{ text: 'Which city? Lisbon | Which day? Monday' }])
    assert.deepEqual(
      inProcessClient.calls.map(({ agent: name, message }) => [name, (message.parts[0] as { text: string }).text]),
      [
        ['city', 'for city'],
        ['day', 'for day'],
        ['city', 'Lisbon'],
        ['day', 'Monday'],
      ],
    )
  })

  it('asks for a secret, which reaches it and is not stored', async (t) => {
    const schemes = { github: { httpAuthSecurityScheme: { scheme: 'bearer' } } }
    const received: string[] = []
    const guarded: Agent = async ({ text, history }) => {
      if ((await history()).length === 1) return authRequired('Sign in', { schemes, inBand: true })
      received.push(text)
      return 'Welcome'
    }
    const { bench: fixture, inProcessClient, agent } = await open(t, { guarded })
    const asked = (await agent.send('go')) as Task
    waits(asked, 'AUTH_REQUIRED')
    const [, request] = asked.status.message?.parts ?? []
    assert.equal((request as { data: Struct }).data['inBand'], true)
    const task = (await agent.send('hunter2', { taskId: asked.id })) as Task
    waits(task, 'COMPLETED')
    assert.deepEqual(received, ['hunter2'])
    const [, second] = inProcessClient.calls
    const child = await inProcessClient.agent('guarded').get(second?.taskId ?? '')
    assert.doesNotMatch(JSON.stringify([task, child, fixture.model.requests]), /hunter2/)
  })
})

async function collect(stream: AsyncIterable<StreamEvent>, enough: (event: StreamEvent) => boolean) {
  const events: StreamEvent[] = []
  for await (const event of stream) {
    events.push(event)
    if (enough(event)) break
  }
  return events
}
