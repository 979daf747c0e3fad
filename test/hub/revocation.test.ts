/** When a grant ends, its streams end, over every binding and on every replica. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { after, describe, it } from 'node:test'
import { memoryStore } from '@parley/a2a'
import type { AgentSettings } from '@parley/a2a/server'
import { encodeProtobuf } from '../../packages/a2a/src/bindings/grpc/codec.ts'
import { runCli } from '../../packages/hub/src/cli/run.ts'
import { createTestTerminal } from '../../packages/hub/src/cli/testing/test-terminal.ts'
import { adminKey, openTestHub, waitFor } from '../admin/test-hub.ts'
import {
  type AccessServer,
  openAccessServer,
  type AuthHeaders,
  bindingVersions,
  type BindingVersion,
} from './access-server.ts'

const never = Promise.withResolvers<never>()
after(() => never.reject(new Error('over')))
never.promise.catch(() => {})

/** Works until it is stopped. */
const waiting: AgentSettings = {
  async *agent() {
    yield { state: 'TASK_STATE_WORKING' }
    await never.promise
  },
}

const open = (more: object = {}): Promise<AccessServer> =>
  openAccessServer({
    agents: { team: waiting },
    access: { jwt: [{ issuer: 'https://one.test', audience: 'parley' }] },
    ...more,
  })

/** A stream over one version and binding, read until it ends; returns everything received. */
function stream(accessServer: AccessServer, way: BindingVersion, proof: AuthHeaders): Promise<string> {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER' as const, parts: [{ text: 'wait' }] }
  return accessServer
    .peer('team', way)
    .stream('SendStreamingMessage', { message }, { headers: proof })
    .then(
      ({ frames }) => JSON.stringify(frames.map(({ body }) => body)),
      (reason: Error) => reason.message,
    )
}
const haveOpened = (accessServer: AccessServer, count: number): Promise<true> =>
  waitFor(
    async () => (accessServer.server.handler.openStreams() === count ? true : undefined),
    `${count} streams are open`,
  )
const idOf = ({ authorization = '' }: AuthHeaders): string => authorization.split('_')[1] ?? ''

describe('the streams of a key', () => {
  it('end when it is revoked, in every version and binding, and those of another key continue', async () => {
    const accessServer = await open()
    const [mine, theirs] = [await accessServer.key({ agents: ['team'] }), await accessServer.key({ agents: ['team'] })]
    const ended = bindingVersions.map((way) => stream(accessServer, way, mine))
    let isOver = false
    const other = stream(accessServer, { binding: 'JSONRPC', version: '1.0' }, theirs).finally(() => (isOver = true))
    await haveOpened(accessServer, bindingVersions.length + 1)
    assert.equal((await accessServer.admin('DELETE', `/admin/keys/${idOf(mine)}`)).status, 200)
    for (const said of await Promise.all(ended))
      assert.match(said, /The credentials that opened this stream were revoked or have expired/)
    await haveOpened(accessServer, 1)
    assert.equal(isOver, false)
    await accessServer.admin('DELETE', `/admin/keys/${idOf(theirs)}`)
    await other
  })

  it('end when it expires', async () => {
    const clock = { at: Date.now() }
    const accessServer = await open({ now: () => clock.at })
    const proof = await accessServer.key({ agents: ['team'], expiresIn: '1h' })
    const ended = stream(accessServer, { binding: 'HTTP+JSON', version: '1.0' }, proof)
    await haveOpened(accessServer, 1)
    clock.at += 3_600_000
    assert.match(await ended, /were revoked or have expired/)
  })

  it('end on another replica that shares the store', async () => {
    const store = memoryStore()
    const [here, there] = [await open({ store }), await open({ store })]
    const proof = await here.key({ agents: ['team'] })
    const ended = stream(there, { binding: 'JSONRPC', version: '1.0' }, proof)
    await haveOpened(there, 1)
    assert.equal((await here.admin('DELETE', `/admin/keys/${idOf(proof)}`)).status, 200)
    assert.match(await ended, /were revoked or have expired/)
  })
})

describe('an unread gRPC stream', { timeout: 120_000 }, () => {
  /** Hand-written, because the client of the library reads everything. */
  async function unread(accessServer: AccessServer, proof: AuthHeaders, text: string, windowBytes: number) {
    const session = connectHttp2(`http://127.0.0.1:${accessServer.server.grpcPort}`, {
      settings: { initialWindowSize: windowBytes },
    })
    after(() => session.destroy())
    const message = encodeProtobuf('lf.a2a.v1.SendMessageRequest', {
      message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] },
    })
    const head = Buffer.alloc(5)
    head.writeUInt32BE(message.length, 1)
    const call = session.request({
      ':method': 'POST',
      ':path': '/lf.a2a.v1.A2AService/SendStreamingMessage',
      'content-type': 'application/grpc',
      te: 'trailers',
      'a2a-version': '1.0',
      'x-parley-agent': 'team',
      ...proof,
    })
    const closed = once(call, 'close')
    call.end(Buffer.concat([head, message]))
    await once(call, 'response')
    return { session, call, closed }
  }

  /** Writes as much as requested, then works until it is stopped. */
  const talking: AgentSettings = {
    async *agent({ text }) {
      for (let n = 0; n < (text === 'much' ? 100 : 1); n += 1) yield 'x'.repeat(20_000)
      await never.promise
    },
  }
  const patient = { agents: { team: talking }, server: { stallMs: 3_600_000 } }

  it('is cut when its key is revoked, even if its last error is never read', async () => {
    const accessServer = await open(patient)
    for (const text of ['much', 'little']) {
      const proof = await accessServer.key({ agents: ['team'] })
      // A flow-control window of 0: not even the first event is sent, and the status waits behind it.
      const { session, call, closed } = await unread(accessServer, proof, text, 0)
      await haveOpened(accessServer, 1)
      assert.equal((await accessServer.admin('DELETE', `/admin/keys/${idOf(proof)}`)).status, 200)
      await closed
      assert.equal(call.readableLength, 0)
      assert.equal(session.destroyed, false, 'other calls of the connection go on')
      await haveOpened(accessServer, 0)
    }
  })
})

describe('the streams of a token', () => {
  it('end when the token expires', async () => {
    const clock = { at: Date.now() }
    const accessServer = await open({ now: () => clock.at })
    const proof = { authorization: `Bearer ${await accessServer.one.token({ scope: 'agent:team' })}` }
    const ended = bindingVersions.slice(0, 3).map((way) => stream(accessServer, way, proof))
    await haveOpened(accessServer, 3)
    clock.at += 700_000
    for (const said of await Promise.all(ended)) assert.match(said, /were revoked or have expired/)
  })
})

describe('the open streams of a session', () => {
  it('end with it: the change feed of the console and the calls of agents', async () => {
    const stage = await openTestHub()
    const signedIn = await stage.ask('POST', '/admin/session')
    const cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const proof = { cookie, 'x-csrf-token': signedIn.json.csrf as string }
    const feed = await fetch(`${stage.url}/admin/events`, { headers: proof })
    const call = await fetch(`${stage.url}/a2a/talker`, {
      method: 'POST',
      headers: { ...proof, 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'SendStreamingMessage',
        params: { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'wait' }] } },
      }),
    })
    const { sessions } = (await stage.ask('GET', '/admin/sessions', undefined, { cookie })).json
    assert.deepEqual(
      sessions.map(({ subject, by, isCurrent, from }: any) => [subject, by, isCurrent, from]),
      [['admin', 'key', true, '127.0.0.1']],
    )
    assert.equal((await stage.ask('DELETE', `/admin/sessions/${sessions[0].id}`)).status, 200)
    await assert.rejects(feed.text())
    assert.match(await call.text(), /were revoked or have expired/)
    assert.equal((await stage.ask('GET', '/admin/session', undefined, { cookie })).status, 401)
    assert.deepEqual((await stage.ask('GET', '/admin/sessions')).json, { sessions: [] })
    assert.equal((await stage.ask('DELETE', `/admin/sessions/${sessions[0].id}`)).status, 404)
  })
})

describe('parley session', () => {
  it('lists the active sessions, and ends a session', async () => {
    const stage = await openTestHub()
    const environment = { PARLEY_URL: stage.url, PARLEY_ADMIN_KEY: adminKey }
    const run = async (...words: string[]): Promise<readonly string[]> => {
      const terminal = createTestTerminal({ environment })
      assert.equal(await runCli(['session', ...words], terminal), 0, terminal.errors.join())
      return terminal.printed
    }
    const signedIn = await stage.ask('POST', '/admin/session')
    const cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const [header = '', line = ''] = await run('list')
    assert.match(header, /^ID +SUBJECT +BY +FROM +CREATED +LAST USED +EXPIRES$/)
    assert.match(line, /^\S+ {2}admin {4}key {2}127\.0\.0\.1 {2}\S+Z {2}\S+Z {2}\S+Z$/)
    await run('end', line.split(' ')[0] ?? '')
    assert.equal((await stage.ask('GET', '/admin/agents', undefined, { cookie })).status, 401)
    assert.equal((await run('list')).length, 1)
  })
})

describe('the streams of an MCP client', () => {
  it('end when its key is revoked', async () => {
    const stage = await openTestHub()
    const proof = await stage.key({ agents: ['echo'] })
    const headers = { ...proof, accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
    const begun = await fetch(`${stage.url}/mcp`, {
      method: 'POST',
      headers,
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
      }),
    })
    await begun.text()
    const session = begun.headers.get('mcp-session-id') ?? ''
    const listening = await fetch(`${stage.url}/mcp`, { headers: { ...headers, 'mcp-session-id': session } })
    assert.equal(listening.headers.get('content-type'), 'text/event-stream')
    assert.equal((await stage.ask('DELETE', `/admin/keys/${idOf(proof)}`)).status, 200)
    await assert.rejects(listening.text())
    const after = await fetch(`${stage.url}/mcp`, { headers: { ...headers, 'mcp-session-id': session } })
    assert.equal(after.status, 401)
    await after.text()
  })
})
