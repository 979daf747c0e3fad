/** Credentials of the command line: attached by the schemes of the card, over every binding, and nowhere else. */
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { SecurityScheme } from '@parley/a2a'
import { mtls, type Call } from '@parley/a2a/server'
import { selfSigned } from '../../packages/a2a/src/testing/fixtures/self-signed-certificate.ts'
import { runInMemory } from '../../packages/cli/src/testing/memory-terminal.ts'
import { bearerOf, startProtectedAgent } from './protected-agent.ts'

const schemes = {
  token: { httpAuthSecurityScheme: { scheme: 'bearer' } },
  header: { apiKeySecurityScheme: { location: 'header', name: 'X-Agent-Key' } },
  query: { apiKeySecurityScheme: { location: 'query', name: 'key' } },
  cookie: { apiKeySecurityScheme: { location: 'cookie', name: 'agent_key' } },
  oauth: {
    oauth2SecurityScheme: {
      flows: { clientCredentials: { tokenUrl: 'https://id.example/token', scopes: {} } },
    },
  },
  oidc: { openIdConnectSecurityScheme: { openIdConnectUrl: 'https://id.example/.well-known/openid-configuration' } },
} as const satisfies Record<string, SecurityScheme>

const shows: Readonly<Record<keyof typeof schemes, (call: Call) => boolean>> = {
  token: (asks) => bearerOf(asks) === 'secret-1',
  header: ({ header }) => header('x-agent-key') === 'secret-1',
  query: ({ query }) => new URLSearchParams(query).get('key') === 'secret-1',
  cookie: ({ header }) => header('cookie') === 'agent_key=secret-1',
  oauth: (asks) => bearerOf(asks) === 'secret-1',
  oidc: (asks) => bearerOf(asks) === 'secret-1',
}
const errorOf = (stdout: string): { code: string; message: string; hint: string } => JSON.parse(stdout).error

describe('credentials of the command line', () => {
  for (const [name, scheme] of Object.entries(schemes)) {
    const kind = 'apiKeySecurityScheme' in scheme ? 'API_KEY' : 'BEARER'
    it(`are sent where the scheme "${name}" wants them`, async () => {
      const agent = await startProtectedAgent({
        schemes: { [name]: scheme },
        accepts: shows[name as keyof typeof schemes],
      })
      const environment = { [`A2ACLI_${kind}`]: 'secret-1' }
      for (const transport of ['rest', 'jsonrpc']) {
        const sent = await runInMemory(['send', '-a', agent.url, 'you', '--transport', transport, '--debug'], {
          environment,
        })
        assert.equal(sent.code, 0, sent.stderr)
        assert.equal(sent.stderr.includes('secret-1'), false, sent.stderr)
      }
      const wrong = await runInMemory(['send', '-a', agent.url, 'you', '-o', 'json'], {
        environment: { [`A2ACLI_${kind}`]: 'secret-2' },
      })
      assert.equal(wrong.code, 4)
      assert.equal(errorOf(wrong.stdout).code, 'A2ACLI_ERR_AUTH_FAILED')
      const missing = await runInMemory(['send', '-a', agent.url, 'you', '-o', 'json'])
      assert.equal(missing.code, 4)
      assert.equal(errorOf(missing.stdout).code, 'A2ACLI_ERR_CREDENTIALS_MISSING')
      assert.match(errorOf(missing.stdout).hint, new RegExp(`et A2ACLI_${kind}`))
    })
  }

  it('are metadata over gRPC', async () => {
    const agent = await startProtectedAgent({
      schemes: { header: schemes.header },
      accepts: shows.header,
      serve: { grpcPort: 0 },
    })
    const run = (key: string) =>
      runInMemory(['send', '-a', agent.url, 'you', '--transport', 'grpc', '--api-key', key, '-o', 'json'])
    assert.equal((await run('secret-1')).code, 0)
    const wrong = await run('secret-2')
    assert.deepEqual([wrong.code, errorOf(wrong.stdout).code], [4, 'A2ACLI_ERR_AUTH_FAILED'])
  })

  it('are sent together if the card requires them together', async () => {
    const agent = await startProtectedAgent({
      schemes,
      requires: [{ token: [], header: [] }],
      accepts: (asks) => shows.token(asks) && shows.header(asks),
    })
    const both = ['--bearer', 'secret-1', '--api-key', 'secret-1']
    assert.equal((await runInMemory(['send', '-a', agent.url, 'you', ...both])).code, 0)
    const one = await runInMemory(['send', '-a', agent.url, 'you', '--bearer', 'secret-1', '-o', 'json'])
    assert.deepEqual(
      [errorOf(one.stdout).code, errorOf(one.stdout).message],
      [
        'A2ACLI_ERR_CREDENTIALS_MISSING',
        'The agent requires token (HTTP bearer) with header (API key in the header X-Agent-Key).',
      ],
    )
  })

  it('are not sent where the card declares no scheme for them', async () => {
    const agent = await startProtectedAgent()
    for (const kind of ['bearer', 'api-key']) {
      const flag = await runInMemory(['send', '-a', agent.url, 'you', `--${kind}`, 'secret-1', '-o', 'json'])
      assert.equal(flag.code, 2)
      assert.match(errorOf(flag.stdout).message, new RegExp(`--${kind}, which is not sent`))
      assert.match(errorOf(flag.stdout).hint, /--svc-param/)
    }
    const ambient = { A2ACLI_BEARER: 'secret-1', A2ACLI_API_KEY: 'secret-1' }
    assert.equal((await runInMemory(['send', '-a', agent.url, 'you'], { environment: ambient })).code, 0)
    assert.ok(agent.calls.length > 0)
    for (const { header, query } of agent.calls)
      assert.deepEqual(
        [header('authorization'), header('x-api-key'), header('cookie'), query],
        [undefined, undefined, undefined, ''],
      )
  })

  it('are not sent with the request for a public card, but with that for a protected one', async () => {
    const open = await startProtectedAgent({ schemes: { token: schemes.token }, accepts: shows.token })
    assert.equal((await runInMemory(['card', 'get', '-a', open.url, '--bearer', 'secret-1'])).code, 0)
    assert.deepEqual(open.calls, [])
    const closed = await startProtectedAgent({
      schemes: { token: schemes.token },
      accepts: shows.token,
      serve: { protectCard: true },
    })
    assert.equal((await runInMemory(['card', 'get', '-a', closed.url, '--bearer', 'secret-1'])).code, 0)
    assert.equal((await runInMemory(['send', '-a', closed.url, 'you', '--bearer', 'secret-1'])).code, 0)
    assert.equal((await runInMemory(['card', 'get', '-a', closed.url])).code, 4)
  })

  it('of a service parameter are not taken for missing ones', async () => {
    const agent = await startProtectedAgent({ schemes: { token: schemes.token }, accepts: shows.token })
    const run = (token: string) =>
      runInMemory(['send', '-a', agent.url, 'you', '-o', 'json', '--svc-param', `Authorization: Bearer ${token}`])
    assert.equal((await run('secret-1')).code, 0)
    assert.equal(errorOf((await run('secret-2')).stdout).code, 'A2ACLI_ERR_AUTH_FAILED')
  })

  it('go to an endpoint without a card if the user names it', async () => {
    const agent = await startProtectedAgent({ schemes: { token: schemes.token }, accepts: shows.token })
    const e = ['-e', agent.url, '--transport', 'rest']
    assert.equal((await runInMemory(['send', ...e, 'you', '--bearer', 'secret-1'])).code, 0)
    assert.equal((await runInMemory(['send', ...e, 'you', '--api-key', 'secret-1'])).code, 2)
  })
})

describe('mutual TLS', () => {
  const own = selfSigned('localhost')
  const client = selfSigned('billing')
  const folder = mkdtempSync(join(tmpdir(), 'parley-mtls-'))
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const ca = file('ca.pem', own.cert)
  const [cert, key] = [file('client.pem', client.cert), file('client.key', client.key)]
  const both = file('both.pem', client.cert + client.key)

  async function start() {
    const { server } = await startProtectedAgent({
      serve: {
        tls: { ...own, ca: client.cert },
        grpcPort: 0,
        grpcTls: { ...own, clientCa: client.cert },
        authenticate: mtls(),
        agent: ({ caller }) => caller.id,
      },
    })
    return `https://localhost:${server.port}`
  }

  it('presents the certificate over every binding', async () => {
    const url = await start()
    for (const transport of ['rest', 'jsonrpc', 'grpc'])
      for (const files of [
        ['--client-cert', cert, '--client-key', key],
        ['--client-cert', both],
      ]) {
        const sent = await runInMemory(['send', '-a', url, 'you', '--ca-cert', ca, ...files, '--transport', transport])
        assert.equal(sent.code, 0, `${transport}: ${sent.stderr}`)
        assert.match(sent.stdout, /CN=billing/)
      }
  })

  it('names the options that are missing', async () => {
    const url = await start()
    const without = await runInMemory(['send', '-a', url, 'you', '--ca-cert', ca, '-o', 'json'])
    assert.deepEqual([without.code, errorOf(without.stdout).code], [4, 'A2ACLI_ERR_CREDENTIALS_MISSING'])
    assert.match(errorOf(without.stdout).hint, /--client-cert and --client-key/)
    const untrusted = await runInMemory(['card', 'get', '-a', url, '-o', 'json'])
    assert.deepEqual([untrusted.code, errorOf(untrusted.stdout).code], [3, 'A2ACLI_ERR_UNREACHABLE'])
  })

  it('refuses files that are no pair before anything is sent', async () => {
    const other = selfSigned('other')
    const run = (...args: string[]) => runInMemory(['card', 'get', '-a', 'https://127.0.0.1:1', '-o', 'json', ...args])
    for (const [args, message] of [
      [['--client-key', key], '--client-key needs --client-cert.'],
      [
        ['--client-cert', cert, '--client-key', file('other.key', other.key)],
        '--client-key is not the key of --client-cert.',
      ],
      [['--client-cert', file('no.pem', 'x'), '--client-key', key], '--client-cert: not a certificate in PEM.'],
      [['--ca-cert', join(folder, 'missing')], `--ca-cert ${join(folder, 'missing')}: no such file.`],
    ] as const) {
      const { code, stdout } = await run(...args)
      assert.deepEqual([code, errorOf(stdout).message], [2, message])
    }
  })

  it('warns of a credential on a connection that is not verified', async () => {
    const agent = await startProtectedAgent({
      schemes: { token: schemes.token },
      accepts: shows.token,
      serve: { tls: own },
    })
    const run = (...args: string[]) => runInMemory(['send', '-a', agent.url, 'you', '--insecure', ...args])
    const sent = await run('--bearer', 'secret-1')
    assert.equal(sent.code, 0, sent.stderr)
    assert.match(
      sent.stderr,
      /Warning: Sending a credential to 127\.0\.0\.1:\d+ although its certificate is not verified/,
    )
    assert.doesNotMatch((await run()).stderr, /Sending a credential/)
  })
})
