/** Routes of a running hub: as configured, while the configuration changes, and through the bot chat endpoint. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { delegationExtension as uri } from '@parley/a2a/internal'
import type { Task } from '@parley/a2a'
import { moduleAgent, openHub, referencedTaskIdsIn, textOf } from './open-hub.ts'

const agents = {
  greeter: moduleAgent('greeter', { default: true }),
  analyst: moduleAgent('echo', { name: 'The Analyst' }),
  asker: moduleAgent('asker'),
  gone: { kind: 'a2a', url: 'http://127.0.0.1:9' },
}
const invoices = { from: 'greeter', when: { text: 'invoice' }, to: 'analyst' }
const adminKey = 'the admin of this hub'

describe('the routes of a hub', () => {
  it('delegate a matching message, and leave the others [S4-16]', async (t) => {
    const { agent } = await openHub(t, { agents, routes: [invoices] })
    const greeter = await agent('greeter')
    const events = await greeter.stream('one invoice').all()
    assert.equal(referencedTaskIdsIn(events).length, 1)
    const last = events.at(-1)
    assert.ok(last !== undefined && 'statusUpdate' in last)
    assert.deepEqual(last.statusUpdate.metadata?.[uri], {
      agent: 'analyst',
      taskId: referencedTaskIdsIn(events)[0],
      instead: true,
    })
    assert.equal(textOf((await greeter.send('one invoice')) as Task), 'one invoice ')
    assert.equal(await greeter.ask('you'), 'Hello, you!')
  })

  it('use another agent if one is down, and the agent itself if the caller may not call the other', async (t) => {
    const routes = [
      { from: 'greeter', when: { text: 'remote' }, to: 'gone', fallback: 'analyst' },
      { from: 'greeter', when: { text: 'secret' }, to: 'asker' },
    ]
    const access = { anonymous: ['greeter', 'analyst', 'gone'] }
    const { agent } = await openHub(t, { agents, routes, access })
    const greeter = await agent('greeter')
    assert.equal(textOf((await greeter.send('remote work')) as Task), 'remote work ')
    assert.equal(await greeter.ask('a secret'), 'Hello, a secret!')
  })

  it('replace an agent that does not exist', async (t) => {
    const broken = { kind: 'module', path: './agents/none.ts' }
    const { agent } = await openHub(t, {
      agents: { ...agents, broken },
      routes: [{ from: 'broken', to: 'broken', fallback: 'analyst' }],
    })
    assert.equal(await (await agent('broken')).ask('hello'), 'hello ')
  })
})

describe('the bot chat endpoint', () => {
  async function open(t: Parameters<typeof openHub>[0]) {
    const { hub } = await openHub(t, {
      agents,
      routes: [invoices, { from: 'greeter', when: { text: 'broken' }, to: 'gone' }],
      profiles: { botChat: true },
      access: { anonymous: ['greeter', 'analyst', 'gone'] },
      admin: { key: adminKey },
    })
    const call = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
      const response = await fetch(`${hub.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
      return [response.status, (await response.json()) as Record<string, unknown>] as const
    }
    const keyFor = async (...scopes: string[]): Promise<Record<string, string>> => {
      const made = await fetch(`${hub.url}/admin/keys`, {
        method: 'POST',
        headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'anna', scopes }),
      })
      const { key } = (await made.json()) as { key: string }
      return { authorization: `Bearer ${key}` }
    }
    return { hub, call, keyFor }
  }

  it('returns who answered, in its established shape [S4-22]', async (t) => {
    const { call } = await open(t)
    const [status, own] = await call('/bot-instances/greeter/chat', { message: 'you' })
    const { sessionId, ...rest } = own
    assert.deepEqual([status, rest], [201, { response: 'Hello, you!', status: 'ok' }])
    assert.equal(typeof sessionId, 'string')
    const [, delegated] = await call('/bot-instances/greeter/chat', { message: 'an invoice', sessionId: 'mine' })
    const { traceId, ...known } = delegated
    assert.deepEqual(known, {
      delegated: true,
      targetBotId: 'analyst',
      targetBotName: 'The Analyst',
      response: 'an invoice ',
      sessionId: 'mine',
    })
    assert.match(String(traceId), /^[\da-f-]{36}$/)
  })

  it('reports an unknown bot, a missing message and a failing bot', async (t) => {
    const { call, hub, keyFor } = await open(t)
    const none = await call('/bot-instances/none/chat', { message: 'x' }, await keyFor('agent:*'))
    assert.deepEqual(none, [404, { error: 'Bot instance none not found' }])
    const malformed = await call('/bot-instances/%zz/chat', { message: 'x' })
    assert.deepEqual(malformed, [404, { error: 'Bot instance %zz not found' }])
    const [status, body] = await call('/bot-instances/greeter/chat', {})
    assert.deepEqual([status, body['error']], [400, 'The request is not valid'])
    const [invalid, reason] = await call('/bot-instances/greeter/chat', { message: 'x', sessionId: 'a/b' })
    assert.equal(invalid, 400)
    assert.match(String(reason['error']), /contextId must be 1 to 256 letters/)
    const [failed, why] = await call('/bot-instances/greeter/chat', { message: 'broken' })
    assert.equal(failed, 502)
    assert.match(String(why['error']), /^Delegation to "gone" failed: The agent cannot be reached/)
    const [refused] = await call('/bot-instances/asker/chat', { message: 'x' })
    assert.equal(refused, 401)
    assert.equal((await fetch(`${hub.url}/bot-instances/greeter/chat`)).status, 405)
  })

  it('answers alike for a bot that the caller may not use and for one that does not exist [B-153]', async (t) => {
    const { call, keyFor } = await open(t)
    const probe = async (name: string, headers: Record<string, string>) => {
      const [status, body] = await call(`/bot-instances/${name}/chat`, { message: 'x' }, headers)
      return [status, JSON.stringify(body).replaceAll(name, '…')]
    }
    const invalid = { authorization: 'Bearer nonsense' }
    for (const [headers, expected] of [
      [{}, 401],
      [invalid, 401],
      [await keyFor('agent:greeter'), 403],
    ] as const) {
      const hidden = await probe('asker', headers)
      assert.equal(hidden[0], expected)
      assert.deepEqual(await probe('none', headers), hidden)
    }
  })

  it('continues a question in the same session', async (t) => {
    const { call, keyFor } = await open(t)
    const proof = await keyFor('agent:*')
    const [, asked] = await call('/bot-instances/asker/chat', { message: 'X', sessionId: 's1' }, proof)
    assert.deepEqual(asked, { response: 'What about X?', sessionId: 's1', status: 'input-required' })
    const [, answered] = await call('/bot-instances/asker/chat', { message: 'Y', sessionId: 's1' }, proof)
    assert.deepEqual(answered, { response: 'X: Y', sessionId: 's1', status: 'ok' })
  })
})
