import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { runInNewContext } from 'node:vm'
import type { Caller } from '../../model/caller.ts'
import { A2AError } from '../../model/error.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { modern, openGrpcServers } from '../../testing/fixtures/grpc-server.ts'
import type { EngineLog } from '../../engine/contract.ts'
import { createHandler, type Handler } from '../index.ts'

const grpc = openGrpcServers()
const opened: Handler[] = []
after(() => Promise.all(opened.map((handler) => handler.close())))

/** The response and the logged causes if `authenticate` returns this, or what this function returns. */
async function answering(caller: unknown, path: string): Promise<{ status: number; text: string; causes: string[] }> {
  const causes: string[] = []
  const keep: EngineLog['error'] = (_message, fields) =>
    void causes.push(String((fields?.cause as Error | undefined)?.message))
  const log: EngineLog = { debug() {}, info() {}, warn: keep, error: keep }
  const authenticate = (): Caller => (typeof caller === 'function' ? caller() : caller) as Caller
  const handler = createHandler({ store: memoryStore(), agent: () => 'x', log, authenticate, protectCard: true })
  opened.push(handler)
  const response = await handler.fetch(new Request(`http://localhost${path}`))
  return { status: response.status, text: await response.text(), causes }
}

describe('a caller returned by authenticate', () => {
  it('needs an id that is a string: without one every request fails, and the log names the cause [B-150]', async () => {
    for (const caller of [{}, { id: '' }, { id: 7 }, { id: null }, { sub: 'ann' }, true, 'ann']) {
      for (const path of ['/tasks/x', '/.well-known/agent-card.json']) {
        const { status, text, causes } = await answering(caller, path)
        assert.equal(status, 500)
        assert.match(text, /Internal error/)
        assert.doesNotMatch(text, /authenticate/)
        const mistake = 'authenticate: returned a caller whose id is not a non-empty string'
        assert.deepEqual(causes, [mistake])
      }
    }
  })

  it('may not use the id of anonymous callers, unless it is anonymous [B-150 B-160]', async () => {
    for (const caller of [{ id: 'anonymous' }, { id: 'anonymous', anonymous: false }]) {
      const { status, causes } = await answering(caller, '/tasks/x')
      assert.equal(status, 500)
      assert.match(causes.join(), /^authenticate: .*`anonymous: true`$/)
    }
    for (const caller of [{ id: 'anonymous', anonymous: true }, { id: 'visitor', anonymous: true }, { id: 'ann' }]) {
      assert.deepEqual((await answering(caller, '/tasks/x')).status, 404)
    }
  })
})

describe('a promise of another implementation returned by authenticate', () => {
  const foreign = runInNewContext('Promise') as PromiseConstructor

  it('is awaited: its caller is used, and its rejection is 401', async () => {
    assert.ok(!(foreign.resolve() instanceof Promise))
    assert.equal((await answering(() => foreign.resolve({ id: 'ann' }), '/tasks/x')).status, 404)
    assert.equal((await answering(() => foreign.resolve(undefined), '/tasks/x')).status, 401)
    assert.equal((await answering(() => foreign.reject(new Error('bad token')), '/tasks/x')).status, 401)
  })
})

describe('an agent that a caller may not use', () => {
  const may: Readonly<Record<string, readonly string[]>> = { ann: ['open'], bob: ['open', 'hidden', 'nowhere'] }
  const handler = createHandler({
    store: memoryStore(),
    agents: { open: () => 'x', hidden: { agent: () => 'x', protectCard: true } },
    authenticate({ header, agent }) {
      const who = header('x-who')
      if (who === undefined) return undefined
      if (may[who]?.includes(agent) !== true) throw new A2AError('PERMISSION_DENIED', 'Not for you')
      return { id: who }
    },
  })
  opened.push(handler)

  const ask = async (method: string, path: string, who?: string): Promise<unknown> => {
    const headers = {
      'content-type': 'application/json',
      'a2a-version': '1.0',
      ...(who === undefined ? {} : { 'x-who': who }),
    }
    const body =
      method === 'POST' ? JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 't' } }) : null
    const response = await handler.fetch(new Request(`http://localhost${path}`, { method, headers, body }))
    return [response.status, Object.fromEntries(response.headers), await response.text()]
  }

  const below = [
    ...['', '/', '/message:send', '/tasks', '/tasks/t', '/v1/tasks/t', '/extendedAgentCard', '/no/such/path'],
    ...['/.well-known/agent-card.json', '/.well-known/agent.json', '/agent-card', '/agent/authenticatedExtendedCard'],
  ]

  it('looks like an absent one, at every path, to callers without permission [B-153 B-160]', async () => {
    for (const who of [undefined, 'ann', 'mallory']) {
      for (const path of below) {
        for (const method of ['GET', 'POST', 'DELETE']) {
          const [hidden, absent] = [
            await ask(method, `/a2a/hidden${path}`, who),
            await ask(method, `/a2a/nowhere${path}`, who),
          ]
          assert.deepEqual(absent, hidden, `${method} ${path} as ${who ?? 'anonymous'}`)
        }
      }
    }
  })

  it('is reported as absent to callers with permission', async () => {
    for (const path of below) {
      const [status] = (await ask(path === '' ? 'POST' : 'GET', `/a2a/nowhere${path}`, 'bob')) as [number]
      assert.ok(status === 404 || status === 405, `${path}: ${status}`)
    }
    const [status, , text] = (await ask('POST', '/a2a/nowhere', 'bob')) as [number, unknown, string]
    assert.deepEqual([status, /No agent named nowhere/.test(text)], [404, true])
  })

  it('looks so over gRPC, whether metadata or a tenant names it [B-153 B-168]', async () => {
    const server = await grpc.open({
      agents: { open: () => 'x', hidden: () => 'x' },
      authenticate: ({ header }) => ({ id: header('x-who') ?? 'ann' }),
      admit: ({ agent, caller }) =>
        may[caller.id]?.includes(agent) === true ? {} : { refuse: new A2AError('PERMISSION_DENIED', 'Not for you') },
    })
    const peer = grpc.client(server.grpcPort)
    const ways = (agent: string) => [
      () => peer.refused(modern, 'GetTask', { id: 't' }, { metadata: { 'x-parley-agent': agent } }),
      () => peer.refused(modern, 'GetTask', { id: 't', tenant: agent }),
      () => peer.refused(modern, 'GetTask', { id: 't', tenant: `${agent}/acme` }),
    ]
    const probe = async (agent: string) =>
      Promise.all(
        ways(agent).map(async (ask) => (({ code, message, details }) => [code, message, details])(await ask())),
      )
    const hidden = await probe('hidden')
    assert.deepEqual(await probe('nowhere'), hidden)
    assert.ok(hidden.every(([code]) => code === 7))
  })
})
