/** Tenants: three ways to name one, and isolation between them. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { connect } from '../../client/connect.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { testMessage, legacyTestMessage, openServers, rpc } from '../../testing/fixtures/test-server.ts'
import { type Authenticate, createHandler } from '../index.ts'

const { open, post, get } = openServers()
const tenants = { declared: ['acme', 'globex'] }
/** `Bearer ann@acme` is Ann of tenant acme; `Bearer ann` has no tenant. */
const authenticate: Authenticate = ({ header }) => {
  const [id = '', tenant] = (header('authorization') ?? '').replace('Bearer ', '').split('@')
  return id === '' ? undefined : { id, ...(tenant !== undefined ? { tenant } : {}) }
}
const ann = { authorization: 'Bearer ann' }
const reasonOf = ({ json }: { json: any }): string => json.error.details?.[0].reason ?? json.error.data[0].reason

describe('a tenant', () => {
  it('is named by the path, by the payload or by the caller, with the same result [B-165 B-166 T-15]', async () => {
    const handler = open({ tenants, authenticate })
    const { json: sent } = await post(handler, { message: testMessage() }, ann, '/acme/message:send')
    const { id } = sent.task
    const ways = [
      await get(handler, `/acme/tasks/${id}`, ann),
      await get(handler, `/tasks/${id}?tenant=acme`, ann),
      await get(handler, `/tasks/${id}`, { authorization: 'Bearer ann@acme' }),
      await get(handler, `/a2a/acme/tasks/${id}`, ann),
    ]
    for (const { status, json } of ways) assert.deepEqual([status, json.id], [200, id])
    const over = await post(handler, rpc('GetTask', { id, tenant: 'acme' }), ann)
    assert.equal(over.json.result.id, id)
    const old = await post(handler, rpc('tasks/get', { id }), { authorization: 'Bearer ann@acme' })
    assert.equal(old.json.result.id, id)
    assert.equal((await get(handler, '/acme/tasks', ann)).json.totalSize, 1)
  })

  it('finds no tasks of another tenant, nor of callers without one [B-166]', async () => {
    const handler = open({ tenants, authenticate })
    const { id } = (await post(handler, { message: testMessage() }, ann, '/acme/message:send')).json.task
    for (const path of [`/tasks/${id}`, `/globex/tasks/${id}`]) {
      const lost = await get(handler, path, ann)
      assert.deepEqual([lost.status, reasonOf(lost)], [404, 'TASK_NOT_FOUND'])
    }
    assert.equal((await get(handler, '/globex/tasks', ann)).json.totalSize, 0)
    assert.equal((await post(handler, {}, ann, `/globex/tasks/${id}:cancel`)).status, 404)
    const going = testMessage('more', { taskId: id })
    assert.equal((await post(handler, { message: going }, ann, '/globex/message:send')).status, 404)
    const otherCaller = await get(handler, `/acme/tasks/${id}`, { authorization: 'Bearer bob' })
    assert.equal(otherCaller.status, 404)
    // 0.x cannot name one.
    assert.equal((await post(handler, rpc('tasks/get', { id }), ann)).json.error.code, -32001)
    assert.equal((await get(handler, `/acme/v1/tasks/${id}`, ann)).status, 404)
  })

  it('that the caller may not use is refused like an unknown one [B-153 B-166]', async () => {
    const handler = open({ tenants, authenticate })
    const ofAcme = { authorization: 'Bearer ann@acme' }
    for (const [headers, tenant] of [
      [ann, 'nowhere'],
      [ofAcme, 'nowhere'],
      [ofAcme, 'globex'],
    ] as const) {
      const refusals = [
        await post(handler, { message: testMessage() }, headers, `/${tenant}/message:send`),
        await get(handler, `/${tenant}/tasks`, headers),
        await get(handler, `/${tenant}/extendedAgentCard`, headers),
        await post(handler, { message: testMessage(), tenant }, headers, '/message:stream'),
        await get(handler, `/tasks/t/pushNotificationConfigs?tenant=${tenant}`, headers),
      ]
      assert.deepEqual(
        refusals.slice(0, 4).map((refusal) => [refusal.status, reasonOf(refusal), refusal.json.error.message]),
        Array.from({ length: 4 }, () => [404, 'TASK_NOT_FOUND', 'Unknown tenant']),
      )
      const over = await post(handler, rpc('SendMessage', { tenant, message: testMessage() }), headers)
      assert.equal(over.json.error.code, -32001)
    }
    assert.equal((await post(handler, { message: testMessage() }, ofAcme, '/acme/message:send')).status, 200)
  })

  it('may be one of several of a caller, by its credentials or by a function [B-153]', async () => {
    const several: Authenticate = () => ({ id: 'ann', tenant: 'acme', tenants: ['acme', 'initech'] })
    const byCaller = open({ tenants, authenticate: several })
    const statusOf = async (handler: ReturnType<typeof open>, tenant: string): Promise<number> =>
      (await get(handler, `/${tenant}/tasks`, ann)).status
    assert.deepEqual(
      await Promise.all(['acme', 'initech', 'globex'].map((tenant) => statusOf(byCaller, tenant))),
      [200, 200, 404],
    )
    const byRule = open({
      tenants: { ...tenants, allowedTenants: ({ id }) => (id === 'ann' ? ['globex', 'unlisted'] : []) },
      authenticate,
    })
    assert.deepEqual(
      await Promise.all(['globex', 'unlisted', 'acme'].map((tenant) => statusOf(byRule, tenant))),
      [200, 200, 404],
    )
  })

  it('of the path that the payload contradicts is an error, and an empty one is none [B-166]', async () => {
    const handler = open({ tenants })
    const crossed = await post(handler, { tenant: 'globex', message: testMessage() }, {}, '/acme/message:send')
    assert.deepEqual([crossed.status, reasonOf(crossed)], [400, 'INVALID_PARAMS'])
    assert.match(JSON.stringify(crossed.json), /"field":"tenant"/)
    assert.equal((await get(handler, '/acme/tasks?tenant=globex')).status, 400)
    for (const tenant of ['acme', '', null]) {
      assert.equal((await post(handler, { tenant, message: testMessage() }, {}, '/acme/message:send')).status, 200)
    }
  })

  it('cannot have a reserved path name, nor that of an agent [B-167]', () => {
    for (const name of ['message:send', 'message:stream', 'tasks', 'extendedAgentCard', 'v1', '.well-known', 'agent']) {
      assert.throws(() => open({ tenants: { declared: ['acme', name] } }), { path: 'tenants.declared[1]' }, name)
    }
    assert.throws(() => open({ tenants: { declared: [''] } }), { name: 'ConfigError' })
    const agents = { echo: () => 'x' }
    const make = () => createHandler({ store: memoryStore(), agents, tenants: { declared: ['echo'] } })
    assert.throws(make, { path: 'tenants.declared[0]' })
  })

  it('has its own interfaces in the card of 1.0, after those without one, and none in older ones [B-17 B-165]', async () => {
    const { json } = await get(open({ tenants }), '/.well-known/agent-card.json', { 'a2a-version': '1.0' })
    const named = json.supportedInterfaces.map(
      ({ protocolBinding, protocolVersion, tenant = '-' }: Record<string, string>) =>
        `${protocolVersion} ${protocolBinding} ${tenant}`,
    )
    assert.deepEqual(named, [
      '1.0 JSONRPC -',
      '1.0 HTTP+JSON -',
      '1.0 JSONRPC acme',
      '1.0 HTTP+JSON acme',
      '1.0 JSONRPC globex',
      '1.0 HTTP+JSON globex',
      '0.3 JSONRPC -',
      '0.3 HTTP+JSON -',
    ])
    const old = await get(open({ tenants }), '/.well-known/agent-card.json', { 'a2a-version': '0.3' })
    assert.doesNotMatch(JSON.stringify(old.json), /acme/)
  })

  it('is sent by our client in every request, over both bindings [B-165 T-15]', async () => {
    const handler = open({ tenants, authenticate })
    const options = { fetch: (request: Request) => handler.fetch(request), bearer: 'ann' }
    for (const binding of ['JSONRPC', 'HTTP+JSON'] as const) {
      const agent = await connect('http://agent.test', { ...options, prefer: [binding], tenant: 'acme' })
      const task = await agent.start('hi')
      assert.equal((await agent.get(task.id)).id, task.id)
      const other = await connect('http://agent.test', { ...options, prefer: [binding], tenant: 'globex' })
      await assert.rejects(other.get(task.id), { code: 'TASK_NOT_FOUND' })
    }
  })

  it('reaches the agent as the tenant of its turn, and separates equal messages [B-163]', async () => {
    const seen: (string | undefined)[] = []
    const handler = open({
      tenants,
      agent({ caller }) {
        seen.push(caller.tenant)
        return 'x'
      },
    })
    const message = testMessage()
    const ids: string[] = []
    for (const path of ['/acme', '/globex', '']) {
      ids.push((await post(handler, { message }, {}, `${path}/message:send`)).json.task.id)
    }
    assert.deepEqual([seen, new Set(ids).size], [['acme', 'globex', ''], 3])
    assert.ok((await post(handler, rpc('message/send', { message: legacyTestMessage() }))).json.result)
  })
})
