/** Credentials from `connect` to the agent and back, over real sockets. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, it } from 'node:test'
import { inspect } from 'node:util'
import type { SecurityScheme } from '../../model/card.ts'
import { A2AError } from '../../model/error.ts'
import type { Call } from '../../server/index.ts'
import { serve, type Server, type ServeOptions } from '../../server/node.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { startAuthorizationServer } from '../../testing/fixtures/authorization-server.ts'
import type { AuthRequest, ConnectOptions, RemoteAgent } from '../contract.ts'
import { connect } from '../connect.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const open: { close(): Promise<unknown> }[] = []
after(() => Promise.all(open.map((one) => one.close())))

const places: Record<string, SecurityScheme> = {
  header: { apiKeySecurityScheme: { location: 'header', name: 'X-Agent-Key' } },
  query: { apiKeySecurityScheme: { location: 'query', name: 'api key' } },
  cookie: { apiKeySecurityScheme: { location: 'cookie', name: 'agent_key' } },
  token: { httpAuthSecurityScheme: { scheme: 'bearer' } },
  password: { httpAuthSecurityScheme: { scheme: 'basic' } },
}
const needs = (...names: string[]) => ({ schemes: Object.fromEntries(names.map((name) => [name, { list: [] }])) })

/** An agent that accepts the credentials for which `knows` returns true, and counts requests. */
async function agentFor(
  knows: (asks: Call) => boolean,
  wants: Partial<ServeOptions> = {},
): Promise<Server & { readonly asked: Call[] }> {
  const asked: Call[] = []
  const server = await serve({
    port: 0,
    store: memoryStore(),
    log: quiet,
    authenticate(asks) {
      asked.push(asks)
      return knows(asks) ? { id: 'alice' } : undefined
    },
    async *agent({ text }) {
      yield 'Hello, '
      yield `${text}!`
    },
    securitySchemes: places,
    ...wants,
  } as ServeOptions)
  open.push(server)
  return { ...server, asked }
}
const bearerOf = ({ header }: Call): string | undefined => header('authorization')?.replace(/^Bearer /, '')

/** Every kind of request: each must carry the credential by itself. */
async function everything(agent: RemoteAgent): Promise<void> {
  assert.equal(await agent.ask('you'), 'Hello, you!')
  assert.equal(await agent.stream('you').text(), 'Hello, you!')
  const { id } = await agent.start('you')
  assert.equal((await agent.wait(id)).status.state, 'TASK_STATE_COMPLETED')
  assert.equal((await agent.get(id)).id, id)
}
const refusal = (reason: unknown): reason is A2AError => reason instanceof A2AError && reason.code === 'UNAUTHENTICATED'

describe('credentials', () => {
  it('are sent with every request to the place that the card declares, in every version and binding [B-152]', async () => {
    const ways: [string, ConnectOptions, (asks: Call) => boolean][] = [
      ['header', { apiKey: 'k&y=1' }, ({ header }) => header('x-agent-key') === 'k&y=1'],
      ['query', { apiKey: 'k&y=1' }, ({ query }) => new URLSearchParams(query).get('api key') === 'k&y=1'],
      ['cookie', { apiKey: 'k&y=1' }, ({ header }) => header('cookie') === 'agent_key=k&y=1'],
      ['token', { bearer: 'k&y=1' }, (asks) => bearerOf(asks) === 'k&y=1'],
      [
        'password',
        { basic: { username: 'k', password: 'y' } },
        ({ header }) => header('authorization') === `Basic ${btoa('k:y')}`,
      ],
    ]
    for (const [name, options, knows] of ways) {
      const server = await agentFor(knows, { securityRequirements: [needs(name)] })
      for (const version of ['1.0', '0.3'] as const)
        for (const binding of ['JSONRPC', 'HTTP+JSON'])
          await everything(await connect(server.url, { ...options, version, prefer: [binding] }))
      assert.ok(server.asked.every(knows), `${name}: not all requests were made with the credential`)
    }
  })

  it('that belong together are sent together [B-152]', async () => {
    const knows = (asks: Call): boolean => bearerOf(asks) === 'b' && asks.header('x-agent-key') === 'k'
    const server = await agentFor(knows, { securityRequirements: [needs('password'), needs('token', 'header')] })
    await everything(await connect(server.url, { bearer: 'b', apiKey: 'k' }))
  })

  it('are requested once more after a 401, and the call succeeds', async () => {
    let vault = 'old'
    const server = await agentFor((asks) => {
      vault = 'new'
      return bearerOf(asks) === 'new'
    })
    const agent = await connect(server.url, { bearer: async () => vault })
    assert.equal(await agent.ask('you'), 'Hello, you!')
    assert.deepEqual(server.asked.map(bearerOf), ['old', 'new'])
  })

  it('that stay the same are refused once, and the error has the requirements of the card', async () => {
    const server = await agentFor(() => false, { securityRequirements: [needs('token'), needs('header')] })
    for (const options of [{ bearer: 'wrong' }, { bearer: () => 'wrong' }, {}]) {
      const agent = await connect(server.url, options)
      server.asked.length = 0
      await assert.rejects(agent.ask('you'), (reason) => {
        assert.ok(refusal(reason), String(reason))
        assert.equal(reason.details['schemes'], 'token (HTTP bearer), or header (API key in the header X-Agent-Key)')
        return true
      })
      assert.equal(server.asked.length, 1)
    }
  })

  it('of any other kind come from a function, which gets the refusal', async () => {
    const server = await agentFor(({ header }) => header('x-signature') === 'right')
    const authRequests: AuthRequest[] = []
    const agent = await connect(server.url, {
      authenticate(request) {
        authRequests.push(request)
        return { headers: { 'x-signature': request.refused === undefined ? 'wrong' : 'right' } }
      },
    })
    authRequests.length = 0
    assert.equal(await agent.ask('you'), 'Hello, you!')
    assert.equal(authRequests.length, 2)
    assert.deepEqual(authRequests[1]?.refused, {
      wwwAuthenticate: 'Bearer, Basic',
      sent: { headers: { 'x-signature': 'wrong' } },
    })
    assert.equal(authRequests[1]?.card, agent.card)
  })

  it('that are unavailable fail the call, with the reason as its cause', async () => {
    const server = await agentFor(() => true)
    let vault: Error | undefined
    const read = (): string => {
      if (vault !== undefined) throw vault
      return 'b'
    }
    const options: ConnectOptions[] = [
      { bearer: async () => read() },
      { apiKey: read },
      { authenticate: () => ({ headers: { 'x-signed': read() } }) },
    ]
    for (const one of options) {
      vault = undefined
      const agent = await connect(server.url, one)
      vault = new Error('the vault is closed')
      server.asked.length = 0
      await assert.rejects(agent.ask('you'), (reason) => refusal(reason) && reason.cause === vault)
      assert.equal(server.asked.length, 0)
    }
  })

  it('that never arrive do not outlast an abort', async () => {
    const server = await agentFor(() => true)
    const agent = await connect(server.url, { apiKey: 'k' })
    const slow = await connect(agent.card, { apiKey: () => new Promise<string>(() => {}) })
    const stop = new AbortController()
    const asking = slow.ask('you', { signal: stop.signal })
    stop.abort(new Error('enough'))
    await assert.rejects(asking, /enough/)
    await assert.rejects(slow.ask('you', { timeoutMs: 20 }), (reason) => (reason as A2AError).code === 'TIMEOUT')
  })

  it('give access to a protected card [B-24]', async () => {
    const server = await agentFor((asks) => bearerOf(asks) === 'b', { protectCard: true })
    await everything(await connect(server.url, { bearer: 'b' }))
    await assert.rejects(connect(server.url, { bearer: 'wrong' }), refusal)
    await assert.rejects(connect(server.url), refusal)
  })
})

describe('tokens by OAuth', () => {
  const secret = { clientId: 'me', clientSecret: 'very-secret' }

  async function guarded(wants: Partial<ServeOptions> = {}) {
    const issuer = await startAuthorizationServer({ ...secret, lifetimeSeconds: 3600 })
    const { tokenUrl } = issuer
    const scheme = { oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl, scopes: { ask: 'Ask' } } } } }
    const server = await agentFor((asks) => issuer.accepts(bearerOf(asks)), {
      securitySchemes: { login: scheme },
      securityRequirements: [{ schemes: { login: { list: ['ask'] } } }],
      ...wants,
    })
    return { issuer, server }
  }

  it('are requested at the address of the card, once for many calls, with the scopes of the card [B-152]', async () => {
    const { issuer, server } = await guarded()
    const agent = await connect(server.url, { oauth: { ...secret, trust: [issuer.url] } })
    assert.equal(issuer.asked.length, 0)
    await Promise.all([everything(agent), everything(agent), everything(agent)])
    assert.deepEqual(
      issuer.asked.map(({ form }) => form),
      [{ grant_type: 'client_credentials', scope: 'ask' }],
    )
  })

  it('are not requested from a server that only the card names', async () => {
    const { issuer, server } = await guarded()
    const agent = await connect(server.url, { oauth: secret })
    await assert.rejects(agent.ask('you'), (reason) => {
      assert.ok(refusal(reason))
      assert.equal(reason.details['reason'], 'AUTHORIZATION_SERVER_NOT_TRUSTED')
      return true
    })
    assert.deepEqual([issuer.asked.length, server.asked.length], [0, 0])
  })

  it('are replaced once when the agent refuses one, for all refused calls', async () => {
    const { issuer, server } = await guarded()
    const agent = await connect(server.url, { oauth: { ...secret, trust: [issuer.url] } })
    await agent.ask('you')
    issuer.revoke()
    await Promise.all([agent.ask('you'), agent.ask('you'), agent.ask('you')])
    assert.equal(issuer.asked.length, 2)
  })

  it('that the agent keeps refusing end the call, and are not requested repeatedly', async () => {
    const issuer = await startAuthorizationServer(secret)
    const server = await agentFor(() => false)
    const agent = await connect(server.url, { oauth: { ...secret, tokenUrl: issuer.tokenUrl } })
    server.asked.length = 0
    await assert.rejects(agent.ask('you'), refusal)
    assert.deepEqual([issuer.asked.length, server.asked.length], [2, 2])
  })

  it('give access to a protected card, if the user names the authorization server [B-24]', async () => {
    const { issuer, server } = await guarded({ protectCard: true })
    const agent = await connect(server.url, { oauth: { ...secret, metadataUrl: issuer.metadataUrl, scopes: ['ask'] } })
    await everything(agent)
    assert.deepEqual(issuer.grants(), ['client_credentials'])
  })

  it('are obtained by a user who signs in on another device', async () => {
    const issuer = await startAuthorizationServer({ interval: 0.01, refreshTokens: true })
    const { tokenUrl, deviceAuthorizationUrl } = issuer
    const server = await agentFor((asks) => issuer.accepts(bearerOf(asks)), {
      securitySchemes: {
        login: { oauth2SecurityScheme: { flows: { deviceCode: { tokenUrl, deviceAuthorizationUrl, scopes: {} } } } },
      },
      securityRequirements: [needs('login')],
    })
    issuer.next.push({ status: 400, json: { error: 'authorization_pending' } })
    const codes: string[] = []
    const onDeviceCode = ({ userCode }: { userCode: string }): unknown => codes.push(userCode)
    const agent = await connect(server.url, { oauth: { clientId: 'me', trust: [issuer.url], onDeviceCode } })
    await everything(agent)
    issuer.revoke()
    await everything(agent)
    assert.deepEqual(codes, ['ABCD-EFGH'])
    assert.deepEqual(issuer.grants(), ['device_code', 'device_code', 'refresh_token'])
  })
})

describe('a redirect', () => {
  async function listen(listener: RequestListener): Promise<string> {
    const server = createServer(listener)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    open.push({
      close: () => {
        server.closeAllConnections()
        return new Promise((resolve) => server.close(resolve))
      },
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const secrets = ['tok-secret', 'key-secret', 'own-secret', 'call-secret', btoa('u:pass-secret')]
  const all = (name: string): ConnectOptions => ({
    ...(name === 'token'
      ? { bearer: 'tok-secret' }
      : name === 'password'
        ? { basic: { username: 'u', password: 'pass-secret' } }
        : { apiKey: 'key-secret' }),
    headers: { 'x-own': 'own-secret' },
  })
  const everythingIn = (request: IncomingMessage): string =>
    [request.url, ...request.rawHeaders].map((one) => decodeURIComponent(one ?? '')).join(' ')

  for (const name of Object.keys(places))
    it(`to another origin carries no credentials, including those in the ${name}`, async () => {
      const strange: string[] = []
      const otherOrigin = await listen((request, response) => {
        strange.push(everythingIn(request))
        response.writeHead(401).end()
      })
      const server = await agentFor(() => true, { securityRequirements: [needs(name)] })
      const agent = await connect(server.url, all(name))
      const own: string[] = []
      server.server.removeAllListeners('request')
      server.server.on('request', (request: IncomingMessage, response) => {
        own.push(everythingIn(request))
        // Like a careless server: the location repeats the query of the request.
        response.writeHead(307, { location: `${otherOrigin}${request.url}` }).end()
      })
      await assert.rejects(agent.ask('you', { headers: { 'x-call': 'call-secret' } }), A2AError)
      assert.ok(
        own.some((line) => secrets.some((secret) => line.includes(secret))),
        'the agent got no credentials',
      )
      assert.equal(strange.length, 1)
      for (const line of strange) for (const secret of secrets) assert.ok(!line.includes(secret), line)
    })

  it('of the card to another origin carries none', async () => {
    const strange: string[] = []
    const server = await agentFor(() => true)
    const otherOrigin = await listen((request, response) => {
      strange.push(everythingIn(request))
      response.writeHead(302, { location: `${server.url}/.well-known/agent-card.json` }).end()
    })
    const front = await listen((request, response) => {
      response.writeHead(302, { location: `${otherOrigin}${request.url}` }).end()
    })
    const agent = await connect(front, { bearer: 'tok-secret', headers: { 'x-own': 'own-secret' } })
    assert.equal(await agent.ask('you'), 'Hello, you!')
    assert.equal(strange.length, 1)
    for (const secret of secrets) assert.ok(!strange.join(' ').includes(secret))
  })

  it('within the origin keeps them', async () => {
    const server = await agentFor((asks) => bearerOf(asks) === 'tok-secret')
    const agent = await connect(server.url, { bearer: 'tok-secret' })
    const listeners = server.server.listeners('request') as RequestListener[]
    server.server.removeAllListeners('request')
    server.server.on('request', (request: IncomingMessage, response) => {
      if (request.url?.endsWith('?again') === true) for (const listen of listeners) listen(request, response)
      else response.writeHead(308, { location: `${request.url}?again` }).end()
    })
    assert.equal(await agent.ask('you'), 'Hello, you!')
  })
})

describe('errors', () => {
  it('contain no secret, whatever fails', async () => {
    const secrets = ['tok-secret', 'key-secret', 'pass-secret', btoa('u:pass-secret'), 'client-secret']
    const failures: unknown[] = []
    const logged: unknown[] = []
    const write = (...line: unknown[]): unknown => logged.push(line)
    const about: ConnectOptions = { limits: { attempts: 2, firstDelayMs: 1 }, log: { debug: write, warn: write } }
    const fails = async (options: ConnectOptions, url: string): Promise<void> => {
      try {
        await (await connect(url, { ...about, ...options })).ask('you')
        assert.fail('nothing went wrong')
      } catch (reason) {
        if (reason instanceof assert.AssertionError) throw reason
        failures.push(reason)
      }
    }
    const issuer = await startAuthorizationServer({ clientId: 'me', clientSecret: 'other' })
    const refusing = await agentFor(() => false, { securityRequirements: [needs('query')] })
    const gone = await agentFor(() => true, { securityRequirements: [needs('query')] })
    const card = (await connect(gone.url)).card
    await gone.close()
    const basic = { username: 'u', password: 'pass-secret' }
    const each: ConnectOptions[] = [
      { bearer: 'tok-secret' },
      { bearer: 'tok-secret\nInjected: yes' },
      { apiKey: 'key-secret' },
      { apiKey: 'key-secretü\0' },
      { basic },
      { oauth: { clientId: 'me', clientSecret: 'client-secret', tokenUrl: issuer.tokenUrl } },
      { headers: { 'x-own': 'tok-secret\nInjected: yes' } },
    ]
    for (const options of each) {
      await fails(options, refusing.url)
      await fails(
        {
          ...options,
          fetch: (request) =>
            fetch(request.url.includes('well-known') ? request : new Request('http://127.0.0.1:1/', request)),
        },
        refusing.url,
      )
    }
    for (const options of each)
      await (await connect(card, { ...about, ...options })).ask('you').catch((reason: unknown) => failures.push(reason))
    assert.equal(failures.length, 3 * each.length)
    assert.ok(logged.length > 0)
    for (const secret of secrets) assert.ok(!inspect(logged, { depth: 10 }).includes(secret))
    for (const failure of failures) {
      assert.ok(failure instanceof A2AError, String(failure))
      const texts: string[] = []
      for (let error: unknown = failure; error instanceof Error; error = error.cause)
        texts.push(error.message, error.stack ?? '', JSON.stringify(error))
      for (const secret of secrets) assert.ok(!texts.join('\n').includes(secret), texts.join('\n'))
    }
  })
})
