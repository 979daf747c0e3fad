/** `handler.call`: calls inside the process take the steps of a request, with the permissions of their caller. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A2AError } from '../../model/error.ts'
import type { SendMessageRequest } from '../../model/operation.ts'
import type { Message, StreamEvent } from '../../model/task.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { openServers, testMessage } from '../../testing/fixtures/test-server.ts'
import { createHandler } from '../handler.ts'
import type { TaskEventStream } from '../../engine/contract.ts'
import type { Authenticate, AuthenticatedCall, EndedCall } from '../index.ts'

const { open } = openServers()
const caller = { id: 'ann' }
const sending = (text = 'hi', over: object = {}): SendMessageRequest => ({
  message: testMessage(text, over) as Message,
})

async function eventsOf(stream: TaskEventStream): Promise<StreamEvent[]> {
  const events: StreamEvent[] = []
  for await (const items of stream) events.push(...items.map(({ event }) => event))
  return events
}

/** A server that records what `admit` and `onOutcome` see. */
function openObserved(over: Parameters<typeof open>[0] = {}) {
  const admitted: AuthenticatedCall[] = []
  const reported: EndedCall[] = []
  const handler = open({
    admit(call) {
      admitted.push(call)
      return { headers: { 'x-left': '7' } }
    },
    onOutcome: (call) => void reported.push(call),
    ...over,
  })
  return { handler, admitted, reported }
}

describe('a call inside the process', () => {
  it('returns the canonical result, and finds only the tasks of its caller', async () => {
    const handler = open()
    const sent = await handler.call('SendMessage', sending('Ann'), { caller })
    assert.ok('task' in sent)
    const { id } = sent.task
    const part = sent.task.artifacts?.[0]?.parts[0]
    assert.ok(part !== undefined && 'text' in part)
    assert.equal(part.text, 'Hello, Ann!')
    assert.equal((await handler.call('GetTask', { id }, { caller })).id, id)
    assert.equal((await handler.call('ListTasks', {}, { caller })).tasks.length, 1)
    const other = { caller: { id: 'bob' } }
    await assert.rejects(handler.call('GetTask', { id }, other), { code: 'TASK_NOT_FOUND' })
    await assert.rejects(handler.call('CancelTask', { id }, other), { code: 'TASK_NOT_FOUND' })
    assert.equal((await handler.call('ListTasks', {}, other)).tasks.length, 0)
  })

  it('streams the events of the log, and replays a task that has ended', async () => {
    const handler = open()
    const events = await eventsOf(await handler.call('SendStreamingMessage', sending(), { caller }))
    const [first] = events
    assert.ok(first !== undefined && 'task' in first)
    const last = events.at(-1)
    assert.ok(last !== undefined && 'statusUpdate' in last)
    assert.equal(last.statusUpdate.status.state, 'TASK_STATE_COMPLETED')
    const { id } = first.task
    const replayed = await eventsOf(await handler.call('SubscribeToTask', { id }, { caller }))
    assert.deepEqual(
      replayed.map((event) => 'task' in event && event.task.status.state),
      ['TASK_STATE_COMPLETED'],
    )
    const rest = await eventsOf(await handler.call('SubscribeToTask', { id }, { caller, lastEventId: 1 }))
    assert.ok(rest.length > 0 && rest.every((event) => !('task' in event)))
  })

  it('is admitted and reported once, as the operation and binding that its endpoint offers', async () => {
    const { handler, admitted, reported } = openObserved()
    const headers: unknown[] = []
    const onAdmitted = (given: unknown): void => void headers.push(given)
    const options = { caller, binding: 'HTTP+JSON', countsAs: 'SendMessage', onAdmitted } as const
    const stream = await handler.call('SendStreamingMessage', sending(), options)
    assert.equal(reported.length, 0, 'a stream is reported with its first event')
    const [first] = await eventsOf(stream)
    assert.ok(first !== undefined && 'task' in first)
    assert.deepEqual(
      admitted.map(({ agent, operation, binding, version, caller: who }) => [agent, operation, binding, version, who]),
      [['default', 'SendMessage', 'HTTP+JSON', '1.0', caller]],
    )
    assert.deepEqual(
      reported.map(({ operation, outcome, status, taskId, caller: who }) => [operation, outcome, status, taskId, who]),
      [['SendMessage', 'OK', 200, first.task.id, caller]],
    )
    assert.deepEqual(headers, [{ 'x-left': '7' }])
  })

  it('that is part of another spends no quota and is not reported, and keeps the permissions of its caller', async () => {
    const { handler, admitted, reported } = openObserved()
    const limited = { ...caller, skills: ['read'] }
    const nested = { partOf: { caller: limited } }
    await assert.rejects(handler.call('SendMessage', sending(), nested), { code: 'PERMISSION_DENIED' })
    await handler.call('SendMessage', sending('x', { metadata: { skillId: 'read' } }), nested)
    assert.deepEqual([admitted, reported], [[], []])
  })

  it('that is part of another reads tasks of an agent that was removed, and sends it nothing', async (t) => {
    const agents = { ann: () => 'Ann', bob: () => 'Bob' }
    const handler = createHandler({ store: memoryStore(), agents, default: 'ann' })
    t.after(() => handler.close())
    const nested = { agent: 'bob', partOf: { caller } }
    const sent = await handler.call('SendMessage', sending(), { ...nested })
    const reply = 'task' in sent ? sent.task.id : ''
    await handler.agents.remove('bob')
    assert.equal((await handler.call('GetTask', { id: reply }, nested)).id, reply)
    await assert.rejects(handler.call('SendMessage', sending('more'), nested), { code: 'AGENT_NOT_FOUND' })
  })

  it('is refused by `admit`, with its headers, before the request is read', async () => {
    const refuse = new A2AError('RATE_LIMITED', 'Later')
    const { handler, reported } = openObserved({ admit: () => ({ headers: { 'x-left': '0' }, refuse }) })
    const headers: unknown[] = []
    const onAdmitted = (given: unknown): void => void headers.push(given)
    const unread = (): never => assert.fail('the request was read')
    await assert.rejects(handler.call('SendMessage', unread, { caller, onAdmitted }), { code: 'RATE_LIMITED' })
    assert.deepEqual(headers, [{ 'x-left': '0' }])
    assert.deepEqual(
      reported.map(({ outcome, status }) => [outcome, status]),
      [['RATE_LIMITED', 429]],
    )
  })

  it('reads its request once the caller is known, and reports what is wrong with it', async () => {
    const { handler, reported } = openObserved()
    const seen: unknown[] = []
    const read = async (call: AuthenticatedCall): Promise<never> => {
      seen.push(call.caller)
      throw new A2AError('INVALID_PARAMS', 'No text')
    }
    await assert.rejects(handler.call('SendMessage', read, { caller }), { code: 'INVALID_PARAMS' })
    assert.deepEqual(seen, [caller])
    assert.deepEqual(
      reported.map(({ outcome, status }) => [outcome, status]),
      [['INVALID_PARAMS', 400]],
    )
  })

  it('without a caller is authenticated by its credentials', async () => {
    const authenticate: Authenticate = ({ header, agent }) =>
      header('x-key') === `key of ${agent}` ? { id: 'keyed' } : undefined
    const { handler, reported } = openObserved({ authenticate })
    const asked = (key: string) => ({ method: 'POST', path: '/own', query: '', header: () => key })
    const sent = await handler.call('SendMessage', sending(), { request: asked('key of default') })
    assert.ok('task' in sent)
    await handler.call('GetTask', { id: sent.task.id }, { caller: { id: 'keyed' } })
    await assert.rejects(handler.call('SendMessage', sending(), { request: asked('x') }), {
      code: 'UNAUTHENTICATED',
    })
    await assert.rejects(handler.call('SendMessage', sending()), { code: 'UNAUTHENTICATED' })
    assert.deepEqual(
      reported.map(({ outcome, caller: who }) => [outcome, who?.id]),
      [
        ['OK', 'keyed'],
        ['OK', 'keyed'],
        ['UNAUTHENTICATED', undefined],
        ['UNAUTHENTICATED', undefined],
      ],
    )
  })

  it('of an agent that is not registered is counted, and fails like a request', async () => {
    const { handler, admitted, reported } = openObserved()
    for (const agent of ['none', 'no name'])
      await assert.rejects(handler.call('SendMessage', sending(), { agent, caller }), { code: 'AGENT_NOT_FOUND' })
    assert.deepEqual(
      admitted.map(({ agent }) => agent),
      ['none', 'no name'],
    )
    assert.deepEqual(
      reported.map(({ agent, outcome }) => [agent, outcome]),
      [
        ['none', 'AGENT_NOT_FOUND'],
        ['no name', 'AGENT_NOT_FOUND'],
      ],
    )
  })

  it('checks the skill like a request: of the card, and permitted to the caller', async () => {
    const skills = ['read', 'write'].map((id) => ({ id, name: id, description: id, tags: [] }))
    const handler = open({ skills, requireSkill: true })
    const limited = { caller: { ...caller, skills: ['read'] } }
    const send = (skillId: string | undefined, options: object) =>
      handler.call(
        'SendMessage',
        { ...sending(), ...(skillId === undefined ? {} : { metadata: { skillId } }) },
        options,
      )
    await send('read', limited)
    await assert.rejects(send('write', limited), { code: 'PERMISSION_DENIED', details: { skillId: 'write' } })
    await assert.rejects(send('fly', { caller }), { code: 'INVALID_PARAMS' })
    await assert.rejects(send(undefined, { caller }), { code: 'INVALID_PARAMS' })
  })

  it('sets limits for its task, which the agent sees', async () => {
    let seen: unknown
    const handler = open({
      agent({ caller: { scopes }, task, provenance }) {
        seen = { scopes, deadlineAt: task.deadlineAt, provenance }
        return 'ok'
      },
    })
    const deadlineAt = Date.now() + 60_000
    const constrain = () => ({ deadlineAt, provenance: { from: 'here' }, scopes: ['b', 'c'] })
    await handler.call('SendMessage', sending(), { caller: { ...caller, scopes: ['a', 'b'] }, constrain })
    assert.deepEqual(seen, { scopes: ['b'], deadlineAt, provenance: { from: 'here' } })
  })
})
