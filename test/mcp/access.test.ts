/** What callers see and reach at `/mcp`: the same as at the agents themselves, and nothing more. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, it } from 'node:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { openMcpTestClient, revisions, textOf } from './mcp-clients.ts'
import type { McpTestClient, Revision } from './mcp-clients.ts'
import { openMcpTestHub } from './mcp-test-hub.ts'

const issuer = await openIssuer()
const testHub = await openMcpTestHub({
  access: {
    anonymous: ['clock'],
    jwt: [{ issuer: issuer.url, audience: 'parley', scopes: { team: ['agent:other'] } }],
  },
})
const { mcp, key, admin, url } = testHub

const open = (revision: Revision, headers: Readonly<Record<string, string>> = {}): Promise<McpTestClient> =>
  openMcpTestClient(revision, { url: mcp, headers })

async function agentsOf(caller: McpTestClient): Promise<readonly string[]> {
  const { structuredContent } = await caller.call('list_agents', {})
  return structuredContent.agents.map(({ name }: { name: string }) => name)
}

for (const revision of revisions) {
  describe(`with a client of ${revision}`, () => {
    it('a key sees the agents that it may call, and no others', async () => {
      const caller = await open(revision, await key('agent:scripted'))
      assert.deepEqual(await agentsOf(caller), ['scripted', 'clock'])
      const said = await caller.call('send_message', { agent: 'scripted', message: 'who' })
      assert.match(textOf(said), /^key:/)
      const byHeader = await key('agent:other')
      const other = await open(revision, { 'x-api-key': byHeader.authorization.slice('Bearer '.length) })
      assert.deepEqual(await agentsOf(other), ['other', 'clock'])
    })

    it('an agent that the caller may not use looks like an unknown one, in every tool', async () => {
      const caller = await open(revision, await key('agent:scripted'))
      for (const [tool, input] of [
        ['discover_agent', {}],
        ['send_message', { message: 'say hi' }],
        ['send_message', { message: 'say hi', waitSeconds: 0 }],
        ['get_task', { taskId: 'x' }],
        ['cancel_task', { taskId: 'x' }],
      ] as const) {
        const hidden = await caller.call(tool, { agent: 'other', ...input })
        const missing = await caller.call(tool, { agent: 'unknown', ...input })
        assert.equal(hidden.isError, true)
        assert.deepEqual(hidden, missing)
      }
      const uri = (agent: string): string => `parley://agent/${agent}/t/a/0`
      const why = (agent: string) =>
        caller.read(uri(agent)).then(
          () => assert.fail('it was read'),
          ({ message }: Error) => message,
        )
      assert.equal(await why('other'), await why('unknown'))
    })

    it('no caller reaches the tasks of another', async () => {
      const [ann, bob] = [await key('agent:scripted'), await key('agent:scripted')]
      const hers = await (await open(revision, ann)).call('send_message', { agent: 'scripted', message: 'ask' })
      const { taskId } = hers.structuredContent
      const his = await open(revision, bob)
      for (const [tool, input] of [
        ['get_task', {}],
        ['get_task', { waitSeconds: 5 }],
        ['cancel_task', {}],
        ['send_message', { message: 'Rome' }],
      ] as const) {
        const result = await his.call(tool, { agent: 'scripted', taskId, ...input })
        assert.equal(result.isError, true)
        assert.match(result.content[0].text, /Task not found/)
      }
      await assert.rejects(his.read(`parley://agent/scripted/${taskId}/answer/0`), /Unknown resource/)
    })

    it('a key for one skill sees that skill, and must name it', async () => {
      const caller = await open(revision, await key('skill:scripted/sing'))
      const { structuredContent } = await caller.call('discover_agent', { agent: 'scripted' })
      assert.deepEqual(
        structuredContent.skills.map(({ id }: { id: string }) => id),
        ['sing'],
      )
      const sung = await caller.call('send_message', { agent: 'scripted', message: 'who', skill: 'sing' })
      assert.match(textOf(sung), /sing$/)
      for (const [skill, refusal] of [
        ['act', /Insufficient permissions for skill 'act'/],
        [undefined, /Set metadata.skillId to a skill/],
      ] as const) {
        const result = await caller.call('send_message', { agent: 'scripted', message: 'who', skill })
        assert.equal(result.isError, true)
        assert.match(result.content[0].text, refusal)
      }
    })

    it('a read-only key reads, and sends nothing', async () => {
      const { key: whole, principal } = await admin('POST', '/admin/keys', { name: 'x', scopes: ['agent:scripted'] })
      const { key: reading } = await admin('POST', '/admin/keys', {
        name: 'x',
        scopes: ['agent:scripted', 'operation:read'],
        principal,
      })
      const writer = await open(revision, { authorization: `Bearer ${whole}` })
      const said = await writer.call('send_message', { agent: 'scripted', message: 'ask' })
      const { taskId } = said.structuredContent
      const reader = await open(revision, { authorization: `Bearer ${reading}` })
      const read = await reader.call('get_task', { agent: 'scripted', taskId })
      assert.equal(read.structuredContent.state, 'input-required')
      for (const tool of ['send_message', 'cancel_task']) {
        const input = { agent: 'scripted', taskId, ...(tool === 'send_message' ? { message: 'x' } : {}) }
        const result = await reader.call(tool, input)
        assert.match(result.content[0].text, /Requires the scope operation:/)
      }
    })

    it('a token of an issuer works as at the agents', async () => {
      const token = await issuer.token({ sub: 'carol', groups: ['team'] })
      const caller = await open(revision, { authorization: `Bearer ${token}` })
      assert.deepEqual(await agentsOf(caller), ['other', 'clock'])
      const said = await caller.call('send_message', { agent: 'other', message: 'who' })
      assert.match(textOf(said), new RegExp(`^${issuer.url}\\|carol`))
    })

    it('an anonymous caller sees public agents, and cannot call agents by URL', async () => {
      const caller = await open(revision)
      assert.deepEqual(await agentsOf(caller), ['clock'])
      const names = (await caller.tools()).map(({ name }) => name)
      assert.ok(!names.includes('invoke_remote_agent'))
      await assert.rejects(
        caller.call('invoke_remote_agent', { url: 'https://a.example', message: 'x' }),
        /Unknown tool/,
      )
      for (const tool of ['discover_agent', 'get_task']) {
        const input = { url: 'https://a.example', ...(tool === 'get_task' ? { taskId: 'x' } : {}) }
        const result = await caller.call(tool, input)
        assert.match(result.content[0].text, /Calling remote agents is not allowed here/)
      }
    })

    it('calls by URL require access to every agent', async () => {
      const narrow = await open(revision, await key('agent:scripted', 'agent:other', 'agent:clock'))
      assert.ok(!(await narrow.tools()).some(({ name }) => name === 'invoke_remote_agent'))
      const wide = await open(revision, await key('agent:*'))
      assert.ok((await wide.tools()).some(({ name }) => name === 'invoke_remote_agent'))
      for (const inside of [
        `${url}/a2a/scripted`,
        'http://169.254.169.254/',
        'http://[::1]:9/',
        'http://localhost:9',
      ]) {
        const result = await wide.call('invoke_remote_agent', { url: inside, message: 'say hi' })
        assert.match(result.content[0].text, /resolves to a disallowed address|PERMISSION_DENIED/, inside)
        const looked = await wide.call('discover_agent', { url: inside })
        assert.equal(looked.isError, true)
      }
    })

    it('calls are audited like any other', async () => {
      const { authorization } = await key('agent:scripted')
      const caller = await open(revision, { authorization })
      const { structuredContent } = await caller.call('send_message', { agent: 'scripted', message: 'say hi' })
      const { taskId } = structuredContent
      for (;;) {
        const { entries } = await admin('GET', '/admin/audit?limit=50')
        const entry = entries.find((one: any) => one.task === taskId && one.event === 'call')
        if (entry === undefined) continue
        assert.deepEqual(
          [entry.agent, entry.outcome, entry.who.slice(0, 4), entry.operation],
          ['scripted', 'OK', 'key:', 'SendStreamingMessage'],
        )
        return
      }
    })

    it('a wrong key gives access to nothing, not even to open agents', async () => {
      await assert.rejects(open(revision, { authorization: 'Bearer parley_wrong' }))
      await assert.rejects(open(revision, { 'x-api-key': 'wrong' }))
    })
  })
}

describe('a rejected caller', () => {
  it('gets the address for sign-in', async () => {
    const response = await post({ authorization: 'Bearer nonsense' }, { jsonrpc: '2.0', id: 1, method: 'tools/list' })
    assert.equal(response.status, 401)
    const challenge = response.headers.get('www-authenticate') ?? ''
    const [, where = ''] = /resource_metadata="([^"]+)"/.exec(challenge) ?? []
    assert.equal(where, `${url}/.well-known/oauth-protected-resource/mcp`)
    const metadata = await (await fetch(where)).json()
    assert.deepEqual(metadata, {
      resource: mcp,
      authorization_servers: [issuer.url],
      bearer_methods_supported: ['header'],
      resource_name: 'Parley',
    })
  })

  it('is rate limited, whatever it requests', async () => {
    const slow = await openMcpTestHub({ access: {}, limits: { perKey: '10/min' } })
    const headers = await slow.key('agent:scripted')
    const caller = await openMcpTestClient('2026-07-28', { url: slow.mcp, headers })
    const seen = new Set<string>()
    for (let count = 0; count < 12; count += 1) {
      const calling = caller.call('send_message', {
        agent: count % 2 === 0 ? 'scripted' : 'unknown',
        message: 'say hi',
      })
      const text = await calling.then(
        ({ content }) => content[0].text as string,
        ({ message }: Error) => message,
      )
      if (/Too many requests/.test(text)) seen.add('slowed')
    }
    assert.ok(seen.has('slowed'))
    const response = await fetch(slow.mcp, {
      method: 'POST',
      headers: { ...headers, ...plainHeaders },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    })
    assert.equal(response.status, 429)
    assert.ok(Number(response.headers.get('retry-after')) >= 1)
  })

  it('gets nothing from a hub without open agents', async () => {
    const closed = await openMcpTestHub({ access: {} })
    const response = await fetch(closed.mcp, {
      method: 'POST',
      headers: plainHeaders,
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    })
    assert.equal(response.status, 401)
    const none = await openMcpTestHub({ mcp: false })
    assert.equal((await fetch(none.mcp, { method: 'POST', headers: plainHeaders, body: '{}' })).status, 404)
  })
})

describe('a session', () => {
  const begin = { jsonrpc: '2.0', id: 1, method: 'initialize', params: initializing() }

  it('belongs to the caller that opened it', async () => {
    const [ann, bob] = [await key('agent:scripted'), await key('agent:scripted')]
    const response = await post(ann, begin)
    const id = response.headers.get('mcp-session-id') ?? ''
    assert.match(id, /^[\da-f-]{36}$/)
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
    assert.equal((await post({ ...ann, 'mcp-session-id': id }, list)).status, 200)
    for (const proof of [bob, {}]) {
      assert.equal((await post({ ...proof, 'mcp-session-id': id }, list)).status, 404)
      const headers = { ...proof, ...plainHeaders, 'mcp-session-id': id }
      assert.equal((await fetch(mcp, { method: 'DELETE', headers })).status, 404)
      assert.equal((await fetch(mcp, { headers })).status, 404)
    }
    assert.equal((await post({ ...ann, 'mcp-session-id': crypto.randomUUID() }, list)).status, 404)
    const end = await fetch(mcp, { method: 'DELETE', headers: { ...ann, ...plainHeaders, 'mcp-session-id': id } })
    assert.equal(end.status, 200)
    assert.equal((await post({ ...ann, 'mcp-session-id': id }, list)).status, 404)
  })

  it('ends with its key', async () => {
    const { key: secret, id: keyId } = await admin('POST', '/admin/keys', { name: 'x', scopes: ['agent:scripted'] })
    const proof = { authorization: `Bearer ${secret}` }
    const session = (await post(proof, begin)).headers.get('mcp-session-id') ?? ''
    await admin('DELETE', `/admin/keys/${keyId}`)
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
    assert.equal((await post({ ...proof, 'mcp-session-id': session }, list)).status, 401)
  })

  it('is closed for a new one of its owner beyond the limit', async () => {
    const proof = await key('agent:scripted')
    const ids: string[] = []
    for (let count = 0; count < 202; count += 1) {
      const response = await post(proof, begin)
      await response.text()
      ids.push(response.headers.get('mcp-session-id') ?? '')
    }
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
    assert.equal((await post({ ...proof, 'mcp-session-id': ids[0] ?? '' }, list)).status, 404)
    assert.equal((await post({ ...proof, 'mcp-session-id': ids.at(-1) ?? '' }, list)).status, 200)
  })
})

const plainHeaders = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

function post(proof: Readonly<Record<string, string>>, body: unknown): Promise<Response> {
  return fetch(mcp, { method: 'POST', headers: { ...plainHeaders, ...proof }, body: JSON.stringify(body) })
}

function initializing() {
  return { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
}

async function openIssuer() {
  const pair = await generateKeyPair('ES256', { extractable: true })
  const keys = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'k', alg: 'ES256' }] }
  const server = createServer((request, response) => {
    const url = `http://${request.headers.host}`
    const document = request.url === '/keys' ? keys : { issuer: url, jwks_uri: `${url}/keys` }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    token: (claims: object): Promise<string> =>
      new SignJWT({ iss: url, aud: 'parley', ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: 'k' })
        .setExpirationTime('10m')
        .sign(pair.privateKey),
  }
}
