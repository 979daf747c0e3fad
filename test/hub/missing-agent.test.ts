/** A mistyped or lost agent name: every binding and the card report it, and list the agents that the caller may use. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { connect } from '@parley/a2a/client'
import { grpc } from '@parley/a2a/grpc'
import { openTestHub } from '../admin/test-hub.ts'

const stage = await openTestHub({
  config: {
    access: { anonymous: '*' },
    listen: { port: 0, grpcPort: 0 },
    agents: {
      echo: { kind: 'demo', agent: 'echo' },
      clock: { kind: 'demo', agent: 'clock' },
      secret: { kind: 'demo', agent: 'echo', access: { anonymous: false } },
    },
  },
})
const overGrpc = grpc()
after(() => overGrpc.close())

const open = 'No agent named nope. Agents: echo, clock'
const all = 'No agent named nope. Agents: echo, clock, secret'
const message = () => ({ messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }] })

describe('an unknown agent', () => {
  it('is reported with the agents that the caller may use, over JSON-RPC, REST and its card', async () => {
    const known = await stage.key({ scopes: ['agent:*'] })
    for (const [proof, said] of [
      [{}, open],
      [known, all],
    ] as const) {
      const asked = { 'A2A-Version': '1.0', ...proof }
      const answers = [
        await stage.call('nope', 'SendMessage', { message: message() }, proof),
        await stage.ask('POST', '/a2a/nope/message:send', { message: message() }, asked),
        await stage.ask('GET', '/a2a/nope/.well-known/agent-card.json', undefined, asked),
        await stage.ask('GET', '/a2a/nope/.well-known/agent.json', undefined, proof),
      ]
      for (const { status, json } of answers) {
        assert.equal(status, 404)
        assert.equal(json.error?.message ?? json.message, said)
      }
    }
  })

  it('is reported over gRPC', async () => {
    const agent = await connect(`${stage.url}/a2a/echo`, { prefer: ['GRPC'], bindings: [overGrpc], tenant: 'nope' })
    await assert.rejects(agent.send('hi'), { code: 'AGENT_NOT_FOUND', message: open })
  })

  it('is not replaced by the default agent: our client finds no card, and reports why', async () => {
    await assert.rejects(connect(`${stage.url}/a2a/nope`), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'CARD_NOT_FOUND')
      assert.ok(error.message.includes(`. The server responded: ${open}`), error.message)
      return true
    })
  })

  it('does not affect the addresses of existing agents', async () => {
    for (const path of ['', '/', '/a2a', '/a2a/echo', '/api/a2a']) {
      const { card } = await connect(stage.url + path)
      assert.equal(card.name, 'Echo', path)
    }
  })
})

describe('a URL below /a2a that names no agent', () => {
  const lost = 'The URL names no agent: end the URL of an agent with a slash. Agents: echo, clock'

  it('is reported with the agents that the caller may use, for cards and calls', async () => {
    const known = await stage.key({ scopes: ['agent:*'] })
    for (const [proof, sentence] of [
      [{}, lost],
      [{ authorization: 'Bearer wrong' }, lost],
      [known, `${lost}, secret`],
    ] as const) {
      for (const path of ['.well-known/agent-card.json', '.well-known/agent.json', '.well-known/agent', 'agent-card']) {
        for (const version of [{}, { 'A2A-Version': '1.0' }]) {
          const { status, json } = await stage.ask('GET', `/a2a/${path}`, undefined, { ...proof, ...version })
          assert.deepEqual([status, json.error?.message ?? json.message], [404, sentence], path)
        }
      }
      const sent = await stage.ask(
        'POST',
        '/a2a/message:send',
        { message: message() },
        { 'A2A-Version': '1.0', ...proof },
      )
      assert.deepEqual([sent.status, sent.json.error.message], [404, sentence])
      assert.equal(sent.json.error.details[0].reason, 'AGENT_NOT_FOUND')
    }
  })

  it('does not include /a2a itself and the root, which are the default agent', async () => {
    const rpc = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: message() } }
    for (const path of ['/a2a', '/']) {
      const { json } = await stage.ask('POST', path, rpc, { 'A2A-Version': '1.0' })
      assert.equal(json.result.task.status.state, 'TASK_STATE_COMPLETED', path)
    }
    const { json } = await stage.ask('GET', '/.well-known/agent-card.json', undefined, {})
    assert.equal(json.name, 'Echo')
  })
})
