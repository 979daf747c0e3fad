/** `a2a auth login`, `status` and `logout` against a real authorization server, and the token on later calls. */
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { runInMemory, type RunResult } from '../../packages/cli/src/testing/memory-terminal.ts'
import { startAuthorizationServer } from '../../packages/a2a/src/testing/fixtures/authorization-server.ts'
import type { AuthorizationServerOptions } from '../../packages/a2a/src/testing/fixtures/authorization-server.ts'
import { bearerOf, startProtectedAgent, type ProtectedAgentOptions } from './protected-agent.ts'

type AuthorizationServer = Awaited<ReturnType<typeof startAuthorizationServer>>

/** A user with an agent that accepts the tokens of a server. */
async function setUp(
  serverOptions: AuthorizationServerOptions,
  agentOptions: (server: AuthorizationServer) => ProtectedAgentOptions,
) {
  const server = await startAuthorizationServer(serverOptions)
  const agent = await startProtectedAgent({
    accepts: (credentials) => server.accepts(bearerOf(credentials)),
    ...agentOptions(server),
  })
  const home = mkdtempSync(join(tmpdir(), 'parley-home-'))
  const run = (args: readonly string[], environment: Record<string, string> = {}): Promise<RunResult> =>
    runInMemory(args, { home, environment })
  const tokenFile = (): string => {
    const folder = join(home, '.config', 'a2a-cli', 'tokens')
    const [name = ''] = readdirSync(folder)
    return join(folder, name)
  }
  return { server, agent, home, run, tokenFile, a: ['-a', agent.url] }
}

const deviceFlow = (server: AuthorizationServer): ProtectedAgentOptions => ({
  schemes: {
    login: {
      oauth2SecurityScheme: {
        flows: {
          deviceCode: {
            deviceAuthorizationUrl: server.deviceAuthorizationUrl,
            tokenUrl: server.tokenUrl,
            scopes: { read: 'Read' },
          },
        },
      },
    },
  },
  requires: [{ login: ['read'] }],
})
/** The card names the server by another host than its own. */
const elsewhere = (server: AuthorizationServer): string => server.url.replace('127.0.0.1', 'localhost')
const foreignCredentials = (server: AuthorizationServer): ProtectedAgentOptions => ({
  schemes: {
    login: {
      oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: `${elsewhere(server)}/token`, scopes: {} } } },
    },
  },
})
const clientCredentials = (server: AuthorizationServer): ProtectedAgentOptions => ({
  schemes: {
    login: { oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: server.tokenUrl, scopes: {} } } } },
  },
})
const openIdConnect = (server: AuthorizationServer): ProtectedAgentOptions => ({
  schemes: {
    oidc: {
      openIdConnectSecurityScheme: { openIdConnectUrl: `${elsewhere(server)}/.well-known/openid-configuration` },
    },
  },
})

describe('auth login with a device code', () => {
  it('shows the code on stderr, stores the token for this user only, and attaches it to later calls', async () => {
    const { server, agent, run, tokenFile, a, home } = await setUp({ interval: 0, lifetimeSeconds: 600 }, deviceFlow)
    server.next.push({ status: 400, json: { error: 'authorization_pending' } })
    const login = await run(['auth', 'login', ...a, '--client-id', 'me'])
    assert.equal(login.code, 0, login.stderr)
    assert.match(login.stderr, /enter the code ABCD-EFGH/)
    assert.match(login.stderr, new RegExp(`open ${server.url}/activate`))
    assert.match(
      login.stdout,
      /^Agent: http:.*\nIssuer: .*\nScheme: login\nFlow: device-code\nClient ID: me\nScopes: read\n/,
    )
    assert.equal(login.stdout.includes('access-1'), false)
    assert.equal(statSync(tokenFile()).mode & 0o777, 0o600)
    assert.equal(statSync(join(home, '.config', 'a2a-cli', 'tokens')).mode & 0o777, 0o700)

    const sent = await run(['send', ...a, 'you', '-o', 'json', '--debug'])
    assert.equal(sent.code, 0, sent.stderr)
    assert.match(sent.stdout, /Hello, you!/)
    assert.deepEqual(new Set(agent.calls.map(bearerOf)), new Set(['access-1']))
    assert.equal(sent.stderr.includes('access-1'), false)
  })

  it('reports a refusal of the server, and stores nothing', async () => {
    const { server, run, a, home } = await setUp({ interval: 0 }, deviceFlow)
    server.next.push({ status: 400, json: { error: 'access_denied' } })
    const login = await run(['auth', 'login', ...a, '--client-id', 'me', '-o', 'json'])
    assert.equal(login.code, 4)
    assert.equal(JSON.parse(login.stdout).error.code, 'A2ACLI_ERR_AUTH_FAILED')
    assert.throws(() => readdirSync(join(home, '.config', 'a2a-cli', 'tokens')))
  })

  it('refreshes an expired token, and stores its successor', async () => {
    const { agent, run, tokenFile, a, server } = await setUp(
      { interval: 0, lifetimeSeconds: 600, refreshTokens: true },
      deviceFlow,
    )
    await run(['auth', 'login', ...a, '--client-id', 'me'])
    writeFileSync(tokenFile(), readFileSync(tokenFile(), 'utf8').replace(/"expiresAt": \d+/, '"expiresAt": 1'))
    const sent = await run(['send', ...a, 'you'])
    assert.equal(sent.code, 0, sent.stderr)
    assert.deepEqual(new Set(agent.calls.map(bearerOf)), new Set(['access-2']))
    assert.deepEqual(server.grants(), ['device_code', 'refresh_token'])
    assert.match(readFileSync(tokenFile(), 'utf8'), /"accessToken": "access-2",\n.*"refreshToken": "refresh-2"/)
    assert.equal(statSync(tokenFile()).mode & 0o777, 0o600)
  })

  it('explains a login that can no longer be renewed', async () => {
    const { server, run, tokenFile, a } = await setUp({ interval: 0, lifetimeSeconds: 600 }, deviceFlow)
    await run(['auth', 'login', ...a, '--client-id', 'me'])
    server.revoke()
    const revoked = await run(['send', ...a, 'you', '-o', 'json'])
    assert.equal(revoked.code, 4)
    const { error } = JSON.parse(revoked.stdout)
    assert.equal(error.code, 'A2ACLI_ERR_AUTH_FAILED')
    assert.match(error.hint, /a2a auth login -a /)
    assert.ok(readFileSync(tokenFile(), 'utf8').length > 0)
  })
})

describe('auth login with client credentials', () => {
  const secret = { A2ACLI_CLIENT_SECRET: 'the secret of me' }
  it('sends the secret only to a server that the user trusts', async () => {
    const { server, agent, run, a } = await setUp({ clientSecret: secret.A2ACLI_CLIENT_SECRET }, foreignCredentials)
    const refused = await run(['auth', 'login', ...a, '--client-id', 'me', '-o', 'json'], secret)
    assert.equal(refused.code, 2)
    assert.equal(JSON.parse(refused.stdout).error.hint, `If you trust it, add: --trust ${elsewhere(server)}`)
    assert.equal(server.asked.length, 0)

    const login = await run(
      ['auth', 'login', ...a, '--client-id', 'me', '--trust', elsewhere(server), '-o', 'json', '--debug'],
      secret,
    )
    assert.equal(login.code, 0, login.stderr)
    const { login: shown } = JSON.parse(login.stdout)
    assert.deepEqual(
      [shown.origin, shown.issuer, shown.flow, shown.clientId, shown.canRefresh],
      [agent.url, elsewhere(server), 'client-credentials', 'me', false],
    )
    for (const hidden of [secret.A2ACLI_CLIENT_SECRET, 'access-1'])
      assert.equal((login.stdout + login.stderr).includes(hidden), false)
    assert.equal((await run(['send', ...a, 'you'])).code, 0)
    assert.deepEqual(new Set(agent.calls.map(bearerOf)), new Set(['access-1']))
  })

  it('renews its token with the secret of the environment, and says what is missing without it', async () => {
    const options = { clientSecret: secret.A2ACLI_CLIENT_SECRET, lifetimeSeconds: 600 }
    const { agent, run, a, server, tokenFile } = await setUp(options, clientCredentials)
    await run(['auth', 'login', ...a, '--client-id', 'me', '--token-url', server.tokenUrl], secret)
    writeFileSync(tokenFile(), readFileSync(tokenFile(), 'utf8').replace(/"expiresAt": \d+/, '"expiresAt": 1'))
    assert.equal(readFileSync(tokenFile(), 'utf8').includes(secret.A2ACLI_CLIENT_SECRET), false)
    const without = await run(['send', ...a, 'you'])
    assert.equal(without.code, 4)
    assert.match(without.stderr, /Set A2ACLI_CLIENT_SECRET/)
    assert.equal((await run(['send', ...a, 'you'], secret)).code, 0)
    assert.deepEqual(new Set(agent.calls.map(bearerOf)), new Set(['access-2']))
  })
})

describe('auth login with OpenID Connect', () => {
  it('finds the endpoints by discovery', async () => {
    const { server, agent, run, a } = await setUp({ interval: 0 }, openIdConnect)
    const login = await run(['auth', 'login', ...a, '--client-id', 'me', '--scope', 'openid profile'])
    assert.equal(login.code, 0, login.stderr)
    assert.match(login.stderr, new RegExp(`The card names the authorization server ${elsewhere(server)}`))
    assert.equal(server.asked[0]?.path, '/.well-known/openid-configuration')
    assert.equal(server.asked.find(({ path }) => path === '/device')?.form['scope'], 'openid profile')
    assert.equal((await run(['send', ...a, 'you'])).code, 0)
    assert.deepEqual(new Set(agent.calls.map(bearerOf)), new Set(['access-1']))
  })
})

describe('a stored token', () => {
  it('is bound to the origin of the card', async () => {
    const { run, a } = await setUp({ interval: 0 }, deviceFlow)
    const other = await setUp({ interval: 0 }, deviceFlow)
    await run(['auth', 'login', ...a, '--client-id', 'me'])
    const sent = await run(['send', ...other.a, 'you', '-o', 'json'])
    assert.equal(sent.code, 4)
    const { error } = JSON.parse(sent.stdout)
    assert.equal(error.code, 'A2ACLI_ERR_CREDENTIALS_MISSING')
    assert.match(error.hint, /^Run `a2a auth login -a http/)
    assert.deepEqual(other.agent.calls.map(bearerOf), [undefined])
  })

  it('is not sent to a host that the card did not name at the login', async () => {
    const { agent, run, a, tokenFile } = await setUp({ interval: 0 }, deviceFlow)
    await run(['auth', 'login', ...a, '--client-id', 'me'])
    // As if the login were for a card of another host, which names this one now.
    const login = JSON.parse(readFileSync(tokenFile(), 'utf8')) as { origin: string; hosts: string[] }
    const card = (await (await fetch(`${agent.url}/.well-known/agent-card.json`)).json()) as Record<string, unknown>
    const moved = await startProtectedAgent({
      serve: { middleware: (_request, response) => !!response.end(JSON.stringify(card)) },
    })
    const localhost = moved.url.replace('127.0.0.1', 'localhost')
    writeFileSync(tokenFile(), JSON.stringify({ ...login, origin: localhost, hosts: ['localhost'] }))
    agent.calls.length = 0
    const sent = await run(['send', '-a', localhost, 'you', '-o', 'json'])
    assert.equal(sent.code, 4, sent.stdout)
    assert.match(
      JSON.parse(sent.stdout).error.message,
      /^The card names the host 127\.0\.0\.1, which it did not at the login/,
    )
    assert.deepEqual(agent.calls, [])
  })

  it('does not follow the client to another interface of the card, such as one of a file', async () => {
    const { agent, home, run, a } = await setUp({ interval: 0 }, deviceFlow)
    const other = await startProtectedAgent()
    await run(['auth', 'login', ...a, '--client-id', 'me'])
    const card = (await (await fetch(`${agent.url}/.well-known/agent-card.json`)).json()) as Record<string, unknown>
    const supportedInterfaces = [`${agent.url}/nothing`, other.url].map((url) => ({
      ...{ url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    }))
    const file = join(home, 'card.json')
    writeFileSync(file, JSON.stringify({ ...card, supportedInterfaces }))
    const sent = await run(['send', '-a', file, 'you', '-o', 'json'])
    assert.ok(other.calls.length > 0, sent.stdout)
    assert.deepEqual(new Set(other.calls.map(bearerOf)), new Set([undefined]))
  })

  it('gives way to an explicit bearer token', async () => {
    const { agent, run, a } = await setUp({ interval: 0 }, deviceFlow)
    await run(['auth', 'login', ...a, '--client-id', 'me'])
    const sent = await run(['send', ...a, 'you'], { A2ACLI_BEARER: 'explicit' })
    assert.equal(sent.code, 4)
    assert.match(sent.stderr, /A2ACLI_ERR_AUTH_FAILED/)
    assert.deepEqual(new Set(agent.calls.map(bearerOf)), new Set(['explicit']))
  })

  it('is listed and deleted, never shown', async () => {
    const { run, a, agent, server } = await setUp(
      { interval: 0, lifetimeSeconds: 600, refreshTokens: true },
      deviceFlow,
    )
    assert.equal((await run(['auth', 'status'])).stdout, 'Logins: none\n')
    await run(['auth', 'login', ...a, '--client-id', 'me'])
    const status = await run(['auth', 'status', '-o', 'json'])
    const { logins } = JSON.parse(status.stdout)
    assert.deepEqual(
      [logins.length, logins[0].origin, logins[0].issuer, logins[0].isExpired, logins[0].canRefresh],
      [1, agent.url, server.url, false, true],
    )
    const ofAgent = await run(['auth', 'status', ...a])
    assert.match(ofAgent.stdout, /Requires: login \(OAuth 2: device code\)\nCredential: the login at http/)
    assert.equal((status.stdout + ofAgent.stdout).includes('access-1'), false)
    assert.equal((await run(['auth', 'logout'])).code, 2)
    await agent.server.close()
    assert.match((await run(['auth', 'logout', '-a', agent.url.slice('http://'.length)])).stdout, /^Deleted: 1\n/)
    assert.deepEqual(JSON.parse((await run(['auth', 'logout', '--all', '-o', 'json'])).stdout), {
      version: 1,
      deleted: 0,
      origins: [],
    })
  })

  it('is shown beside what the card requires, each on one line', async () => {
    const { url } = await startProtectedAgent({
      schemes: { 'a\nCredential: \u001b[2Jb': { httpAuthSecurityScheme: { scheme: 'bearer' } } },
    })
    const { stdout } = await runInMemory(['auth', 'status', '-a', url])
    assert.match(stdout, /^Agent: .*\nRequires: a Credential: \\u001b\[2Jb \(HTTP bearer\)\nCredential: none\n$/)
  })

  it('in a file that others can read is reported', async () => {
    const { run, a, tokenFile } = await setUp({ interval: 0 }, deviceFlow)
    await run(['auth', 'login', ...a, '--client-id', 'me'])
    chmodSync(tokenFile(), 0o644)
    assert.match((await run(['send', ...a, 'you'])).stderr, /Warning: Other users can read .*chmod 600/)
  })
})

describe('auth login without what it needs', () => {
  it('names the client id, the flow or the scheme that is missing', async () => {
    const { run, a } = await setUp({}, deviceFlow)
    const key = await startProtectedAgent({
      schemes: { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } } },
    })
    const messages = await Promise.all(
      [
        ['auth', 'login', ...a],
        ['auth', 'login', ...a, '--client-id', 'me', '--flow', 'client-credentials'],
        ['auth', 'login', ...a, '--client-id', 'me', '--scheme', 'other'],
        ['auth', 'login', '-a', key.url, '--client-id', 'me'],
      ].map(async (args) => {
        const { code, stdout } = await run([...args, '-o', 'json'])
        assert.equal(code, 2)
        return JSON.parse(stdout).error.message
      }),
    )
    assert.deepEqual(messages, [
      'Missing --client-id: a card does not contain the id of your client.',
      'The card offers no client-credentials flow.',
      'The card has no security scheme "other".',
      'The card declares no OAuth 2 or OpenID Connect scheme: there is nothing to log in to.',
    ])
  })
})
