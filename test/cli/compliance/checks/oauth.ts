/** Checks of `auth login`, mutual TLS and OpenID Connect. */
import assert from 'node:assert/strict'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SecurityScheme } from '@parley/a2a'
import { selfSigned, startAuthorizationServer } from '../../outside-fixtures.ts'
import { secured } from './auth.ts'
import type { FixtureAgent } from '../../fixture/fixture-agent.ts'
import type { Checks, JsonTask, Workbench } from '../workbench.ts'

type AuthorizationServer = Awaited<ReturnType<typeof startAuthorizationServer>>

async function openServer(
  bench: Workbench,
  options: Parameters<typeof startAuthorizationServer>[0],
): Promise<AuthorizationServer> {
  const server = await startAuthorizationServer(options)
  bench.closeLater(server)
  return server
}

/** An agent that accepts the tokens of the authorization server. */
function agentOf(bench: Workbench, server: AuthorizationServer, scheme: SecurityScheme): Promise<FixtureAgent> {
  return bench.agent(secured(scheme, ({ header }) => server.accepts(header('authorization')?.replace('Bearer ', ''))))
}

const deviceScheme = (server: AuthorizationServer): SecurityScheme => ({
  oauth2SecurityScheme: {
    flows: {
      deviceCode: { deviceAuthorizationUrl: server.deviceAuthorizationUrl, tokenUrl: server.tokenUrl, scopes: {} },
    },
  },
})
const clientScheme = (server: AuthorizationServer): SecurityScheme => ({
  oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: server.tokenUrl, scopes: { read: 'Read' } } } },
})

/** The files of the configuration folder. */
async function storedFiles(bench: Workbench): Promise<readonly string[]> {
  const entries = await readdir(join(bench.home, '.config'), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

export const oauthChecks: Checks = {
  async A2ACLI_AUTH_005(bench) {
    const server = await openServer(bench, { clientId: 'a2a-cli', interval: 0 })
    server.next.push({ status: 400, json: { error: 'authorization_pending' } })
    const agent = await agentOf(bench, server, deviceScheme(server))
    const login = await bench.a2a(['auth', 'login', '-a', agent.url, '--client-id', 'a2a-cli'], {
      shows: 'shows the URL and the code on stderr, waits for the approval, and stores the token',
    })
    assert.match(login.stderr, /ABCD-EFGH/)
    assert.match(login.stderr, /\/activate/)
    assert.doesNotMatch(login.stdout + login.stderr, /access-\d|device-secret/)
    assert.deepEqual(server.grants(), ['device_code', 'device_code'])
    await bench.a2a(['send', '-a', agent.url, 'complete'], { shows: 'attaches the token to a later call' })
  },

  async A2ACLI_AUTH_006(bench) {
    const server = await openServer(bench, { clientId: 'a2a-cli', clientSecret: 'cl1ent-s3cret' })
    const agent = await agentOf(bench, server, clientScheme(server))
    const login = await bench.a2a(['auth', 'login', '-a', agent.url, '--client-id', 'a2a-cli', '--scope', 'read'], {
      env: { A2ACLI_CLIENT_SECRET: 'cl1ent-s3cret' },
      shows: 'obtains a token with client credentials',
    })
    assert.doesNotMatch(login.stdout + login.stderr, /access-\d|cl1ent-s3cret/)
    assert.deepEqual(server.grants(), ['client_credentials'])
    const run = await bench.a2a(['send', '-a', agent.url, '-o', 'json', 'complete'], {
      shows: 'attaches the token to a later call',
    })
    assert.equal(run.json<{ task: JsonTask }>().task.status.state, 'TASK_STATE_COMPLETED')
  },

  async A2ACLI_AUTH_007(bench) {
    const server = await openServer(bench, { clientId: 'a2a-cli', clientSecret: 'cl1ent-s3cret' })
    const agent = await agentOf(bench, server, clientScheme(server))
    const other = await agentOf(bench, server, clientScheme(server))
    const env = { A2ACLI_CLIENT_SECRET: 'cl1ent-s3cret' }
    await bench.a2a(['auth', 'login', '-a', agent.url, '--client-id', 'a2a-cli'], {
      env,
      shows: 'stores the token for the origin of the card',
    })
    const files = await storedFiles(bench)
    assert.ok(files.length > 0)
    for (const file of files) {
      assert.equal((await stat(file)).mode & 0o077, 0, `${file} is private`)
      assert.doesNotMatch(await readFile(file, 'utf8'), /taskId|contextId/)
    }
    await bench.a2a(['send', '-a', agent.url, 'complete'], { shows: 'attaches it without an option' })
    const status = await bench.a2a(['auth', 'status', '-o', 'json'], {
      shows: 'lists the stored tokens without showing them',
    })
    assert.match(status.stdout, new RegExp(agent.url))
    assert.doesNotMatch(status.stdout, /access-\d/)
    await bench.a2a(['send', '-a', other.url, '-o', 'json', 'complete'], {
      exit: 4,
      shows: 'is not sent to another origin',
    })
    assert.ok(other.server.requests.every(({ headers }) => headers['authorization'] === undefined))
    await bench.a2a(['auth', 'logout', '-a', agent.url], { shows: 'deletes it' })
    await bench.a2a(['send', '-a', agent.url, '-o', 'json', 'complete'], { exit: 4, shows: 'needs a credential again' })
  },

  async A2ACLI_AUTH_009(bench) {
    const [listener, client] = [selfSigned('localhost'), selfSigned('a2a-client')]
    const agent = await bench.agent({
      tls: { ...listener, ca: client.cert },
      settings: {
        securitySchemes: { mtls: { mtlsSecurityScheme: {} } },
        securityRequirements: [{ schemes: { mtls: { list: [] } } }],
      },
    })
    agent.server.rules.push(({ method, hasClientCertificate }) =>
      method === 'POST' && !hasClientCertificate
        ? { answer: new Response('a certificate is required', { status: 401 }) }
        : undefined,
    )
    for (const [name, text] of Object.entries({ 'ca.pem': listener.cert, 'me.pem': client.cert, 'me.key': client.key }))
      await writeFile(join(bench.folder, name), text)
    const files = ['--ca-cert', 'ca.pem', '--client-cert', 'me.pem', '--client-key', 'me.key']
    await bench.a2a(['send', '-a', agent.url, ...files, 'complete'], { shows: 'shows its certificate' })
    assert.ok(
      agent.server.requests.some(({ method, hasClientCertificate }) => method === 'POST' && hasClientCertificate),
    )
    const without = await bench.a2a(['send', '-a', agent.url, '--ca-cert', 'ca.pem', '-o', 'json', 'complete'], {
      exit: 4,
      shows: 'reports the missing credential without it',
    })
    assert.match(without.stdout, /A2ACLI_ERR_(CREDENTIALS_MISSING|AUTH_FAILED)/)
  },

  async A2ACLI_AUTH_010(bench) {
    const server = await openServer(bench, { clientId: 'a2a-cli', clientSecret: 'cl1ent-s3cret', interval: 0 })
    const agent = await agentOf(bench, server, {
      openIdConnectSecurityScheme: { openIdConnectUrl: `${server.url}/.well-known/openid-configuration` },
    })
    await bench.a2a(['auth', 'login', '-a', agent.url, '--client-id', 'a2a-cli'], {
      env: { A2ACLI_CLIENT_SECRET: 'cl1ent-s3cret' },
      shows: 'discovers the endpoints of the provider and obtains a token',
    })
    assert.ok(server.asked.some(({ path }) => path === '/.well-known/openid-configuration'))
    await bench.a2a(['send', '-a', agent.url, 'complete'], { shows: 'sends it as a bearer token' })
  },
}
