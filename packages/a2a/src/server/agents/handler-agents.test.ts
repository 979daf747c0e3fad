import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Turn } from '../../agents/agent.ts'
import { modern, openGrpcServers, grpcMessageRequest } from '../../testing/fixtures/grpc-server.ts'
import { testMessage, openServers, rpc } from '../../testing/fixtures/test-server.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { createHandler, type Handler, type HandlerOptions } from '../index.ts'

const { post, get } = openServers()
const grpc = openGrpcServers()
const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const opened: Handler[] = []
after(() => Promise.all(opened.map((handler) => handler.close())))

function open(over: Partial<HandlerOptions> = {}): Handler {
  const options = { agents: { ann: () => 'Ann', bob: () => 'Bob' }, log: quiet, store: memoryStore(), ...over }
  const handler = createHandler(options as HandlerOptions)
  opened.push(handler)
  return handler
}

const modernly = { 'a2a-version': '1.0' }
const send = (handler: Handler, agent: string, over: object = {}, configuration: object = {}) =>
  post(handler, { message: testMessage('hi', over), configuration }, modernly, `/a2a/${agent}/message:send`)
const call = (handler: Handler, agent: string) =>
  post(handler, rpc('SendMessage', { message: testMessage() }), modernly, `/a2a/${agent}`)
const answerOf = (json: { task: { artifacts: { parts: { text: string }[] }[] } }): string | undefined =>
  json.task.artifacts[0]?.parts[0]?.text

/** Replies with its name once it is released. */
function held(name: string) {
  const begun = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  return {
    begun: begun.promise,
    go: go.resolve,
    async *agent({ text }: Turn) {
      begun.resolve()
      yield { state: 'TASK_STATE_WORKING' as const }
      await go.promise
      yield `${name} read ${text}`
    },
  }
}

async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending')
  await new Promise((resolve) => setImmediate(resolve))
  return (await Promise.race([promise, Promise.resolve(pending)])) === pending
}

describe('an agent that is added', () => {
  it('is called, described and listed at once, under the rules of the start', async () => {
    const handler = open({ tenants: { declared: ['acme'] } })
    assert.equal((await send(handler, 'eve')).status, 404)
    await handler.agents.set('eve', { agent: () => 'Eve', description: 'Came later' })
    assert.deepEqual(handler.agents.names(), ['ann', 'bob', 'eve'])
    assert.equal(answerOf((await send(handler, 'eve')).json), 'Eve')
    assert.equal((await get(handler, '/a2a/eve/.well-known/agent-card.json')).json.description, 'Came later')
    for (const name of ['tasks', 'a/b', '', 'acme']) {
      assert.throws(() => handler.agents.set(name, () => 'x'), { name: 'ConfigError', path: `agents.${name}` })
    }
    assert.throws(() => handler.agents.set('eve', 5 as never), { name: 'ConfigError', path: 'agents.eve.agent' })
    assert.equal(answerOf((await send(handler, 'eve')).json), 'Eve')
  })

  it('replaces another: a new card under a new tag, and new turns', async () => {
    const handler = open()
    const path = '/a2a/ann/.well-known/agent-card.json'
    const etag = (await get(handler, path)).headers.get('etag') ?? ''
    assert.equal((await get(handler, path, { 'if-none-match': etag })).status, 304)
    await handler.agents.set('ann', { agent: () => 'Anna', name: 'Anna' })
    const changed = await get(handler, path, { 'if-none-match': etag })
    assert.deepEqual([changed.status, changed.json.name], [200, 'Anna'])
    assert.notEqual(changed.headers.get('etag'), etag)
    assert.equal(answerOf((await send(handler, 'ann')).json), 'Anna')
  })

  it('leaves the running turn to its predecessor, runs the waiting message, and reports when that has ended', async () => {
    const old = held('the old one')
    const handler = open({ agents: { ann: old.agent } })
    const { json } = await send(handler, 'ann', {}, { returnImmediately: true })
    const { id } = json.task
    await old.begun
    const next = await send(handler, 'ann', { taskId: id, parts: [{ text: 'more' }] }, { returnImmediately: true })
    assert.equal(next.status, 200)
    const replaced = handler.agents.set('ann', ({ text }: Turn) => `the new one read ${text}`)
    assert.ok(await isPending(replaced))
    old.go()
    await replaced
    // When the subscription has ended, the turn of the new agent has run.
    const follow = new Request(`http://localhost/a2a/ann/tasks/${id}:subscribe`, { headers: modernly })
    await (await handler.fetch(follow)).text()
    const { artifacts } = (await get(handler, `/a2a/ann/tasks/${id}`)).json
    assert.deepEqual(
      artifacts.map(({ parts }: { parts: { text: string }[] }) => parts[0]?.text),
      ['the old one read hi', 'the new one read more'],
    )
  })
})

describe('an agent that is removed', () => {
  it('looks to new callers like an unknown one, over every binding [B-27]', async () => {
    const handler = open()
    const before = await send(handler, 'bob')
    await handler.agents.remove('bob')
    assert.deepEqual(handler.agents.names(), ['ann'])
    for (const ask of [send, call]) {
      const [gone, never] = [await ask(handler, 'bob'), await ask(handler, 'zoe')]
      const renamed = JSON.parse(JSON.stringify(never.json).replaceAll('zoe', 'bob')) as unknown
      assert.deepEqual([gone.status, gone.json], [404, renamed])
      assert.match(JSON.stringify(gone.json), /No agent named bob\. Agents: ann"/)
    }
    for (const path of ['agent-card', '.well-known/agent-card.json', '.well-known/agent.json']) {
      assert.equal((await get(handler, `/a2a/bob/${path}`)).status, 404, path)
    }
    const { id } = before.json.task
    assert.equal((await get(handler, `/a2a/bob/tasks/${id}`)).json.status.state, 'TASK_STATE_COMPLETED')
    await handler.agents.remove('bob')
    await handler.agents.remove('zoe')
  })

  it('finishes its turns, which can be read, followed and answered meanwhile', async () => {
    const asked = Promise.withResolvers<void>()
    const handler = open({
      agents: {
        ann: () => 'Ann',
        bob: async ({ ask }: Turn) => {
          asked.resolve()
          return `Bob read ${await ask('What?')}`
        },
      },
    })
    const { id } = (await send(handler, 'bob', {}, { returnImmediately: true })).json.task
    await asked.promise
    const removed = handler.agents.remove('bob')
    assert.ok(await isPending(removed))
    assert.equal((await send(handler, 'bob')).status, 404)
    assert.equal((await get(handler, `/a2a/bob/tasks/${id}`)).status, 200)
    const follow = new Request(`http://localhost/a2a/bob/tasks/${id}:subscribe`, { headers: modernly })
    const stream = await handler.fetch(follow)
    assert.equal(stream.status, 200)
    const answered = await send(handler, 'bob', { taskId: id, parts: [{ text: 'this' }] })
    assert.equal(answerOf(answered.json), 'Bob read this')
    await removed
    assert.match(await stream.text(), /Bob read this/)
  })

  it('can stop its turns on request', async () => {
    const bob = held('Bob')
    const handler = open({ agents: { ann: () => 'Ann', bob: { agent: bob.agent, cancelGraceMs: 0 } } })
    const { id } = (await send(handler, 'bob', {}, { returnImmediately: true })).json.task
    await bob.begun
    const removed = handler.agents.remove('bob')
    assert.ok(await isPending(removed))
    const { json } = await post(handler, {}, modernly, `/a2a/bob/tasks/${id}:cancel`)
    assert.equal(json.status.state, 'TASK_STATE_CANCELED')
    await removed
  })

  it('accepts no message for an idle task, and recognizes a repeated one', async () => {
    const handler = open({ agents: { ann: () => 'Ann', bob: () => ({ state: 'TASK_STATE_INPUT_REQUIRED' }) } })
    const said = { messageId: crypto.randomUUID() }
    const { id } = (await send(handler, 'bob', said)).json.task
    await handler.agents.remove('bob')
    const again = await send(handler, 'bob', said)
    assert.deepEqual([again.status, again.json.task.id], [200, id])
    const next = await send(handler, 'bob', { taskId: id })
    assert.deepEqual([next.status, next.json.error.message], [400, 'The agent accepts no more messages'])
    assert.equal((await post(handler, {}, modernly, `/a2a/bob/tasks/${id}:cancel`)).status, 200)
  })

  it('may be added again, and continue its tasks', async () => {
    const handler = open({ agents: { ann: () => 'Ann', bob: () => ({ state: 'TASK_STATE_INPUT_REQUIRED' }) } })
    const { id } = (await send(handler, 'bob')).json.task
    await handler.agents.remove('bob')
    await handler.agents.set('bob', () => 'Bob is back')
    assert.deepEqual(handler.agents.names(), ['ann', 'bob'])
    assert.equal(answerOf((await send(handler, 'bob', { taskId: id })).json), 'Bob is back')
  })

  it('is removed from gRPC as well: new agents are found there by name, removed ones are not [B-165]', async () => {
    const server = await grpc.open({ agents: { ann: () => 'Ann' } })
    const peer = grpc.client(server.grpcPort)
    const { agents } = server.handler
    const metadata = { 'x-parley-agent': 'eve' }
    assert.equal(
      (await peer.refused(modern, 'SendMessage', grpcMessageRequest(), { metadata })).reason,
      'AGENT_NOT_FOUND',
    )
    await agents.set('eve', () => 'Eve')
    const { payload } = await peer.call(modern, 'SendMessage', { tenant: 'eve', ...grpcMessageRequest() })
    assert.equal(answerOf(payload), 'Eve')
    await agents.remove('eve')
    assert.equal(
      (await peer.refused(modern, 'SendMessage', grpcMessageRequest(), { metadata })).reason,
      'AGENT_NOT_FOUND',
    )
    const { id } = payload.task
    assert.equal((await peer.call(modern, 'GetTask', { id }, { metadata })).payload.id, id)
  })
})

describe('the agent at the root', () => {
  const nameAtRoot = async (handler: Handler): Promise<string> =>
    (await get(handler, '/.well-known/agent-card.json')).json.name as string

  it('is the named one, and can be changed later', async () => {
    const handler = open({ default: 'bob' })
    assert.equal(await nameAtRoot(handler), 'bob')
    handler.agents.makeDefault('ann')
    assert.equal(await nameAtRoot(handler), 'ann')
    assert.throws(() => handler.agents.makeDefault('eve'), { name: 'ConfigError', path: 'default' })
    assert.throws(() => open({ default: 'eve' }), { name: 'ConfigError', path: 'default' })
  })

  it('is the oldest while the named one is absent', async () => {
    const handler = open({ default: 'bob' })
    await handler.agents.remove('bob')
    assert.equal(await nameAtRoot(handler), 'ann')
    await handler.agents.set('bob', () => 'Bob')
    assert.equal(await nameAtRoot(handler), 'bob')
  })

  it('is absent when all agents are removed', async () => {
    const handler = open()
    await Promise.all(handler.agents.names().map((name) => handler.agents.remove(name)))
    assert.equal((await get(handler, '/.well-known/agent-card.json')).status, 404)
    assert.equal((await post(handler, { message: testMessage() }, modernly, '/message:send')).status, 404)
    assert.equal((await get(handler, '/healthz')).status, 200)
    await handler.agents.set('eve', () => 'Eve')
    assert.equal(await nameAtRoot(handler), 'eve')
  })

  it('can be replaced if it is the only one, and neither joined nor removed', async () => {
    const handler = open({ agents: undefined, agent: () => 'one' })
    await handler.agents.set('default', { agent: () => 'two', name: 'Two' })
    assert.equal(await nameAtRoot(handler), 'Two')
    const { json } = await post(handler, { message: testMessage() }, modernly, '/message:send')
    assert.equal(answerOf(json), 'two')
    assert.throws(() => handler.agents.set('other', () => 'x'), { name: 'ConfigError', path: 'agents.other' })
    await assert.rejects(handler.agents.remove('default'), { name: 'ConfigError' })
  })
})
