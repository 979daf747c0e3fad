/**
 * Guards against: unclear ownership of tasks. In other servers the store, the lock and the
 * running agent each had their own notion of the owner: colleagues overwrote each other, a
 * cancel by one never reached the other's agent, and a caller that guessed a contextId joined
 * the conversation.
 */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { artifact, inputRequired, status } from '@parley/a2a'
import type { Agent, Task } from '@parley/a2a'
import { testAgent } from '@parley/a2a/testing'
import { waitUntil, createGate } from './protocol-requests.ts'

const people: Readonly<Record<string, { id: string; scopes?: string[] }>> = {
  alice: { id: 'acme', scopes: ['write'] },
  bob: { id: 'acme', scopes: ['read'] },
  mallory: { id: 'mallory' },
}

interface Person {
  send(text: string, more?: object, configuration?: object): Promise<Task>
  call(operation: 'GetTask' | 'CancelTask', id: string): Promise<Task>
  list(contextId?: string): Promise<readonly Task[]>
  subscribe(id: string): Promise<void>
}

/** One server; each of the three callers has its own key. */
function office(agent: Agent): Record<'alice' | 'bob' | 'mallory', Person> {
  const tested = testAgent(agent, {
    server: { authenticate: ({ header }) => people[header('x-key') ?? ''] },
    cancelGraceMs: 200,
  })
  opened.push(tested)
  const person = (key: string): Person => {
    const options = { headers: { 'x-key': key } }
    return {
      async send(text, more = {}, configuration = {}) {
        const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER' as const, parts: [{ text }], ...more }
        const result = await tested.wire.call('SendMessage', { message, configuration }, options)
        return (result as { task: Task }).task
      },
      call: (operation, id) => tested.wire.call(operation, { id }, options),
      list: async (contextId) =>
        (await tested.wire.call('ListTasks', contextId === undefined ? {} : { contextId }, options)).tasks,
      async subscribe(id) {
        await tested.wire.stream('SubscribeToTask', { id }, options).next()
      },
    }
  }
  return { alice: person('alice'), bob: person('bob'), mallory: person('mallory') }
}

const opened: { close(): Promise<void> }[] = []
after(async () => {
  for (const server of opened) await server.close()
})

describe('callers that share an owner', () => {
  it("write to one task without losing each other's messages", async () => {
    const { alice, bob } = office(async function* ({ text }) {
      yield artifact(text, { text })
      yield inputRequired('Next?')
    })
    const { id } = await alice.send('start')
    const names = Array.from({ length: 40 }, (_, index) => `${index % 2 === 0 ? 'alice' : 'bob'}-${index}`)
    await Promise.all(
      names.map((name) =>
        (name.startsWith('alice') ? alice : bob).send(name, { taskId: id }, { returnImmediately: true }),
      ),
    )
    await waitUntil(async () => ((await alice.call('GetTask', id)).artifacts ?? []).length === 41, 'all were answered')
    const { artifacts = [] } = await bob.call('GetTask', id)
    assert.deepEqual(artifacts.map(({ artifactId }) => artifactId).sort(), ['start', ...names].sort())
  })

  it("can cancel each other's tasks: the agent is stopped, and the task stays canceled [B-110 B-114]", async () => {
    const aborted = createGate()
    const { alice, bob } = office(async function* ({ signal }) {
      yield status('At work')
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
      aborted.open()
    })
    const { id } = await alice.send('long job', {}, { returnImmediately: true })
    assert.equal((await bob.call('CancelTask', id)).status.state, 'TASK_STATE_CANCELED')
    await aborted.opened
    assert.equal((await alice.call('GetTask', id)).status.state, 'TASK_STATE_CANCELED')
  })
})

describe('another caller', () => {
  it('finds no task of other callers, by any operation [B-153 B-160]', async () => {
    const { alice, mallory } = office(async function* () {
      yield inputRequired('Which one?')
    })
    const { id, contextId } = await alice.send('mine')
    const attempts = [
      () => mallory.call('GetTask', id),
      () => mallory.call('CancelTask', id),
      () => mallory.subscribe(id),
      () => mallory.send('mine too', { taskId: id }),
      () => mallory.send('mine too', { taskId: id, contextId }),
    ]
    for (const attempt of attempts) await assert.rejects(attempt, { code: 'TASK_NOT_FOUND' })
    assert.deepEqual(await mallory.list(), [])
    assert.deepEqual(await mallory.list(contextId), [])
    assert.equal((await alice.call('GetTask', id)).status.state, 'TASK_STATE_INPUT_REQUIRED')
  })

  it('that uses the same context gets its own conversation [B-56 B-77]', async () => {
    const { alice, bob, mallory } = office(async function* (turn) {
      const earlier = await turn.context()
      const seen = await turn.references()
      yield `${earlier.length} before, ${seen.length} referred to`
    })
    const first = await alice.send('one', { contextId: 'shared' })
    const answer = ({ artifacts = [] }: Task): unknown => artifacts[0]?.parts[0]
    assert.deepEqual(answer(await bob.send('two', { contextId: 'shared', referenceTaskIds: [first.id] })), {
      text: '1 before, 1 referred to',
    })
    assert.deepEqual(answer(await mallory.send('three', { contextId: 'shared', referenceTaskIds: [first.id] })), {
      text: '0 before, 0 referred to',
    })
    assert.equal((await alice.list('shared')).length, 2)
    assert.equal((await mallory.list('shared')).length, 1)
  })

  it('that is anonymous and repeats the id and the text of another message does not get its task, unless the id is a UUID [B-163]', async () => {
    let number = 0
    const open = testAgent(() => `The number is 555-${(number += 1)}`)
    opened.push(open)
    const say = async (messageId: string): Promise<Task> =>
      (await open.send({ messageId, parts: [{ text: 'What is my number?' }] })) as Task
    const mine = await say('m-1')
    const theirs = await say('m-1')
    assert.notEqual(theirs.id, mine.id)
    assert.doesNotMatch(JSON.stringify(theirs), /555-1/)
    const unguessable = crypto.randomUUID()
    assert.equal((await say(unguessable)).id, (await say(unguessable)).id)
  })

  it('that uses a messageId of another caller gets its own answer [B-163]', async () => {
    const { alice, mallory } = office(({ text }) => text)
    const one = await alice.send('secret', { messageId: 'm-1' })
    const two = await mallory.send('secret', { messageId: 'm-1' })
    assert.notEqual(one.id, two.id)
  })
})
