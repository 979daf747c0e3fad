/** How an agent is called: bindings, versions, tenants, extensions, headers, TLS, proxies, and what `--debug` shows of it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { runInMemory } from '../testing/memory-terminal.ts'

interface Received {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: { readonly method?: string; readonly params?: { readonly tenant?: string } & Record<string, unknown> }
}

interface AgentOptions {
  readonly interfaces?: (url: string) => readonly object[]
  readonly card?: object
  readonly answer?: (received: Received) => unknown
  /** Answers every call with this error. */
  readonly error?: object
}

/** An agent by hand, so that the test sees what was sent. */
async function handmadeAgent({ interfaces, card, answer, error }: AgentOptions = {}) {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const one = {
        path: request.url ?? '',
        headers: request.headers,
        body: JSON.parse(text || '{}') as Received['body'],
      }
      received.push(one)
      response.setHeader('content-type', 'application/json')
      const isCard = request.method === 'GET' && one.path.includes('well-known')
      const result = answer?.(one) ?? { id: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' }, later: 1 }
      const outcome = error === undefined ? { result } : { error }
      response.end(JSON.stringify(isCard ? document : { jsonrpc: '2.0', id: 1, ...outcome }))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const document = {
    name: 'Hand',
    description: 'd',
    version: '1',
    supportedInterfaces: interfaces?.(url) ?? [
      { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    ],
    capabilities: {},
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
    ...card,
  }
  return { url, received, calls: () => received.filter(({ body }) => body.method !== undefined) }
}

const errorOf = (text: string) =>
  (JSON.parse(text) as { readonly error: { code: string; message: string; hint: string } }).error

describe('the call of an agent', () => {
  it('carries the version, the service parameters, and unknown fields back', async () => {
    const { url, received } = await handmadeAgent()
    const parameters = ['--svc-param', 'X-Region:eu', '--svc-param', 'x-flag=a:b']
    const { code, stdout } = await runInMemory(['task', 'get', 't', '-a', url, '-o', 'json', ...parameters])
    assert.equal(code, 0, stdout)
    for (const { headers } of received)
      assert.deepEqual([headers['a2a-version'], headers['x-region'], headers['x-flag']], ['1.0', 'eu', 'a:b'])
    assert.equal((JSON.parse(stdout) as { later: number }).later, 1)
    assert.equal((await runInMemory(['task', 'get', 't', '-a', url, '--svc-param', 'no separator'])).code, 2)
  })

  it('needs the name of an agent: an empty one is a usage error', async () => {
    for (const option of ['-a', '-e'])
      for (const value of ['', ' ']) {
        const { code, stderr } = await runInMemory(['task', 'get', 't', option, value, '--transport', 'rest'])
        assert.equal(code, 2)
        assert.match(stderr, /is empty\.[^]*Hint: Use --agent-card/)
      }
  })

  it('has no limit with --timeout 0, and a long one with a time beyond that of timers', async () => {
    const { url } = await handmadeAgent()
    for (const timeout of ['0', '10000h'])
      assert.equal((await runInMemory(['task', 'get', 't', '-a', url, '--timeout', timeout])).code, 0, timeout)
  })

  it('uses the first binding of the card, or the first of --transport that the card has', async () => {
    const { url, received } = await handmadeAgent({
      interfaces: (own) => [
        { url: `${own}/one`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url: `${own}/two`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      ],
    })
    const pathsOf = async (...options: readonly string[]) => {
      received.length = 0
      await runInMemory(['task', 'get', 't', '-a', url, ...options])
      return received.map(({ path }) => path).filter((path) => !path.includes('well-known'))
    }
    assert.deepEqual(await pathsOf(), ['/one'])
    assert.deepEqual(await pathsOf('--transport', 'rest'), ['/two/tasks/t'])
    assert.deepEqual(await pathsOf('--transport', 'grpc', '--transport', 'HTTP+JSON'), ['/two/tasks/t'])
    assert.deepEqual(await pathsOf('--transport', 'grpc'), ['/one'])
    assert.equal((await runInMemory(['task', 'get', 't', '-a', url, '--transport', 'morse'])).code, 2)
  })

  it('never goes below 1.0, unless the user names the version', async () => {
    const { url, calls } = await handmadeAgent({
      interfaces: (own) => [{ url: `${own}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' }],
      answer: () => ({ kind: 'task', id: 't', contextId: 'c', status: { state: 'completed' } }),
    })
    const { code, stdout } = await runInMemory(['task', 'get', 't', '-a', url, '-o', 'json'])
    const { code: name, message, hint } = errorOf(stdout)
    assert.deepEqual([code, name], [1, 'VersionNotSupportedError'])
    assert.match(`${message} ${hint}`, /below 1\.0.*--a2a-version 0\.3/)
    assert.equal(calls().length, 0)
    const named = await runInMemory(['task', 'get', 't', '-a', url, '-o', 'json', '--a2a-version', '0.3'])
    assert.deepEqual(JSON.parse(named.stdout), { id: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } })
    assert.equal(calls()[0]?.headers['a2a-version'], '0.3')
    assert.equal((await runInMemory(['task', 'get', 't', '-a', url, '--a2a-version', '7.0'])).code, 2)
  })

  it('hints at a version that the agent offers, and never at the one that was refused', async () => {
    const hintOf = async (url: string, ...options: readonly string[]) =>
      errorOf((await runInMemory(['task', 'get', 't', '-a', url, '-o', 'json', ...options])).stdout).hint
    const modern = await handmadeAgent()
    assert.equal(
      await hintOf(modern.url, '--a2a-version', '0.3'),
      'The agent offers another version: --a2a-version 1.0',
    )
    const refuse = (data?: object) => ({
      interfaces: (own: string) =>
        ['1.0', '0.3'].map((protocolVersion) => ({ url: `${own}/rpc`, protocolBinding: 'JSONRPC', protocolVersion })),
      error: { code: -32_009, message: 'Not that version', ...data },
    })
    const silent = await handmadeAgent(refuse())
    assert.equal(await hintOf(silent.url), 'Name a version that the agent supports: --a2a-version 0.3 or 0.2')
    assert.equal(
      await hintOf(silent.url, '--a2a-version', '0.3.0'),
      'Name a version that the agent supports: --a2a-version 1.0 or 0.2',
    )
    const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'VERSION_NOT_SUPPORTED' }
    const only = await handmadeAgent(refuse({ data: [{ ...info, metadata: { supportedVersions: '9.1' } }] }))
    assert.equal(await hintOf(only.url), 'The agent offers 9.1. This program speaks 1.0, 0.3, 0.2.')
  })

  it('carries the tenant of the card in every request, and --tenant only where the card has none', async () => {
    const isDone = (calls: readonly unknown[]) => (calls.length > 1 ? 'TASK_STATE_COMPLETED' : 'TASK_STATE_WORKING')
    const agent = await handmadeAgent({
      interfaces: (own) => [{ url: `${own}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: 'acme' }],
      answer: ({ body }) => {
        const task = { id: 't', contextId: 'c', status: { state: isDone(agent.calls()) } }
        return body.method === 'SendMessage' ? { task } : task
      },
    })
    const run = await runInMemory(['send', 'x', '-a', agent.url, '--tenant', 'other', '--poll-interval', '10ms'])
    assert.equal(run.code, 0, run.stderr)
    const methods = agent.calls().map(({ body }) => body.method)
    assert.ok(methods.includes('SendMessage') && methods.includes('GetTask'), String(methods))
    for (const { body } of agent.calls()) assert.equal(body.params?.tenant, 'acme')
    const without = await handmadeAgent()
    await runInMemory(['task', 'get', 't', '-a', without.url])
    await runInMemory(['task', 'get', 't', '-a', without.url, '--tenant', 'mine'])
    assert.deepEqual(
      without.calls().map(({ body }) => body.params?.tenant),
      [undefined, 'mine'],
    )
  })

  it('declares extensions that the user names, and warns of required ones', async () => {
    const uri = 'https://e.test/receipts'
    const { url, calls } = await handmadeAgent({ card: { capabilities: { extensions: [{ uri, required: true }] } } })
    const first = await runInMemory(['task', 'get', 't', '-a', url])
    assert.match(first.stderr, /Warning: The agent requires the extension .*--extension/)
    const second = await runInMemory(['task', 'get', 't', '-a', url, '--extension', uri])
    assert.doesNotMatch(second.stderr, /requires the extension/)
    assert.deepEqual(
      calls().map(({ headers }) => headers['a2a-extensions']),
      [undefined, uri],
    )
  })

  it('needs no card with --endpoint, which takes exactly one transport', async () => {
    const { url, received } = await handmadeAgent()
    const endpoint = ['-e', `${url}/rpc`]
    const { code } = await runInMemory(['task', 'get', 't', ...endpoint, '--transport', 'jsonrpc', '--tenant', 'mine'])
    assert.equal(code, 0)
    assert.deepEqual(
      received.map(({ path, body }) => [path, body.params?.tenant]),
      [['/rpc', 'mine']],
    )
    const withoutScheme = ['-e', `${new URL(url).host}/rpc`, '--transport', 'jsonrpc']
    assert.equal((await runInMemory(['task', 'get', 't', ...withoutScheme])).code, 0)
    assert.equal((await runInMemory(['task', 'get', 't', ...endpoint])).code, 2)
    assert.equal((await runInMemory(['task', 'get', 't', ...endpoint, '--transport', 'rest', '-a', url])).code, 2)
    // One that the environment names is no contradiction.
    const environment = { A2ACLI_AGENT_CARD: 'http://127.0.0.1:9' }
    assert.equal(
      (await runInMemory(['task', 'get', 't', ...endpoint, '--transport', 'jsonrpc'], { environment })).code,
      0,
    )
  })

  it('goes through the proxy that the environment names', async () => {
    const agent = await handmadeAgent()
    const environment = { HTTP_PROXY: agent.url }
    const { code, stderr } = await runInMemory(['card', 'get', '-a', 'http://agent.test'], { environment })
    assert.equal(code, 0, stderr)
    assert.deepEqual(
      agent.received.map(({ path, headers }) => [path, headers.host]),
      [['http://agent.test/.well-known/agent-card.json', 'agent.test']],
    )
  })
})

describe('the wire log of --debug', () => {
  it('shows requests and responses on stderr, and no secret', async () => {
    const card = {
      securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
      securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    }
    const { url } = await handmadeAgent({ card })
    const secrets = ['--bearer', 's3cr3t-token', '--svc-param', 'X-Session: quiet']
    const { stdout, stderr } = await runInMemory(['task', 'get', 't', '-a', url, '--debug', '-o', 'json', ...secrets])
    assert.doesNotThrow(() => JSON.parse(stdout) as unknown)
    for (const shown of [
      /> 1 GET http.*agent-card\.json/,
      /< 1 200 after/,
      /> 2 POST .*\/rpc/,
      /> 2 .*"method":"GetTask"/,
      /< 2 .*TASK_STATE_COMPLETED/,
      /GetTask over JSONRPC 1\.0, attempt 1/,
      /authorization: \[redacted\]/i,
      /x-session: \[redacted\]/i,
    ])
      assert.match(stderr, shown)
    assert.doesNotMatch(stderr, /s3cr3t-token|quiet/)
  })
})

describe('the .env of a project', () => {
  it('replaces neither the agent of the environment with an endpoint, nor a host with an entry of a catalog', async () => {
    const [own, other] = [await handmadeAgent(), await handmadeAgent()]
    const cwd = mkdtempSync(join(tmpdir(), 'parley-cli-'))
    const host = new URL(own.url).host
    const catalog = join(cwd, 'agents.json')
    writeFileSync(catalog, JSON.stringify([{ name: host, url: other.url }]))
    const lines = [`A2ACLI_ENDPOINT=${other.url}`, 'A2ACLI_TRANSPORT=jsonrpc', `A2ACLI_CATALOG=${catalog}`]
    writeFileSync(join(cwd, '.env'), lines.join('\n'))
    const environment = { A2ACLI_AGENT_CARD: host, A2ACLI_BEARER: 'secret-token' }
    assert.equal((await runInMemory(['task', 'get', 't'], { cwd, environment })).code, 0)
    assert.equal((await runInMemory(['task', 'get', '-a', host, 't'], { cwd })).code, 0)
    assert.equal(other.received.length, 0)
    // Neither of them is looked up in the catalog of the file, which has not chosen the address.
    writeFileSync(join(cwd, '.env'), `A2ACLI_CATALOG=${catalog}`)
    writeFileSync(join(cwd, 'own.json'), JSON.stringify([{ name: 'own', url: own.url }]))
    for (const reference of [own.url, 'own@own.json']) {
      const words = ['task', 'get', '-a', reference, '--svc-param', 'X-Token:secret-token', 't']
      const { code, stderr } = await runInMemory(words, { cwd })
      assert.equal(code, 0, stderr)
    }
    assert.equal(other.received.length, 0)
    assert.equal((await runInMemory(['task', 'get', '-a', host, '--catalog', catalog, 't'], { cwd })).code, 0)
    assert.notEqual(other.received.length, 0)
  })

  it('gets no credential of the user without --trust-project', async () => {
    const { url, received } = await handmadeAgent({
      card: {
        securitySchemes: { token: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
        securityRequirements: [{ schemes: { token: {} } }],
      },
    })
    const cwd = mkdtempSync(join(tmpdir(), 'parley-cli-'))
    const file = join(cwd, '.env')
    const catalog = join(cwd, 'agents.json')
    writeFileSync(catalog, JSON.stringify([{ name: 'hand', url }]))
    const get = (environment: Readonly<Record<string, string>>, ...flags: string[]) =>
      runInMemory(['task', 'get', 't', '-o', 'json', ...flags], { cwd, environment })
    const user = { A2ACLI_BEARER: 'secret-token' }
    for (const [line, flags] of [
      [`A2ACLI_AGENT_CARD=${url}`, []],
      [`A2ACLI_CATALOG=${catalog}`, ['-a', 'hand']],
      [`A2ACLI_ENDPOINT=${url}/rpc\nA2ACLI_TRANSPORT=jsonrpc`, ['--svc-param', 'X-Token:secret-token']],
    ] as const) {
      writeFileSync(file, line)
      const refused = await get(user, ...flags)
      assert.equal(refused.code, 2, refused.stdout)
      const { message, hint } = errorOf(refused.stdout)
      assert.match(message, /^(A2ACLI_BEARER|--svc-param) is not sent to .*: .*\.env chose this address\./)
      assert.match(hint, /--trust-project/)
      assert.ok(!JSON.stringify(received).includes('secret-token'))
    }
    writeFileSync(file, `A2ACLI_CATALOG=${catalog}`)
    assert.ok(errorOf((await get(user, '-a', 'hand')).stdout).message.includes(`hand of the catalog ${catalog}`))
    const trusted = await get(user, '-a', 'hand', '--catalog', catalog, '--trust-project')
    assert.equal(trusted.code, 0, trusted.stdout)
    writeFileSync(file, `A2ACLI_AGENT_CARD=${url}\nA2ACLI_BEARER=of-the-project`)
    assert.equal((await get({})).code, 0, 'a token of the project goes to the agent of the project')
    writeFileSync(file, `A2ACLI_AGENT_CARD=${url}`)
    assert.equal((await get(user, '--config', file)).code, 0, 'the user has named the file')
    assert.equal((await get(user, '--trust-project')).code, 0)
  })

  it('gets no credential of the user by a command that sends it in another way', async () => {
    const { url, received } = await handmadeAgent({ card: { capabilities: { pushNotifications: true } } })
    const cwd = mkdtempSync(join(tmpdir(), 'parley-cli-'))
    const endpoint = `A2ACLI_ENDPOINT=${url}/rpc\nA2ACLI_TRANSPORT=jsonrpc`
    const hook = ['--url', 'https://hook.example']
    for (const [line, words] of [
      [`A2ACLI_AGENT_CARD=${url}`, ['conformance', '--bearer', 'secret-token']],
      [`A2ACLI_AGENT_CARD=${url}`, ['conformance', '--api-key', 'secret-token']],
      [endpoint, ['conformance', '--svc-param', 'X-Token:secret-token']],
      [`A2ACLI_AGENT_CARD=${url}`, ['task', 'push-config', 'create', 't', ...hook, '--token', 'secret-token']],
      [
        `A2ACLI_AGENT_CARD=${url}`,
        [
          ...['task', 'push-config', 'create', 't', ...hook],
          ...['--auth-scheme', 'Bearer', '--auth-credentials', 'secret-token'],
        ],
      ],
      [`A2ACLI_AGENT_CARD=${url}`, ['task', 'push-config', 'listen', 't', '--token', 'secret-token']],
    ] as const) {
      writeFileSync(join(cwd, '.env'), line)
      const { code, stderr } = await runInMemory(words, { cwd })
      assert.equal(code, 2, stderr)
      assert.match(stderr, /is not sent to .*: .*\.env chose this address\./)
      assert.ok(!JSON.stringify(received).includes('secret-token'))
    }
    // An address that the user names replaces the endpoint of the file.
    writeFileSync(join(cwd, '.env'), endpoint)
    const own = await handmadeAgent()
    const before = received.length
    const words = ['conformance', own.url, '--only', 'get.unknown-task', '--bearer', 'secret-token']
    await runInMemory(words, { cwd })
    assert.ok(own.received.length > 0)
    assert.equal(received.length, before)
  })

  it('weakens neither TLS nor adds to what is sent, unless the user names the file', async () => {
    const { url, received } = await handmadeAgent()
    const cwd = mkdtempSync(join(tmpdir(), 'parley-cli-'))
    const file = join(cwd, '.env')
    const lines = ['A2ACLI_INSECURE=1', 'A2ACLI_SVC_PARAM=x-project:1', 'A2ACLI_TRUST_PROJECT=1', 'A2ACLI_VERIFY=off']
    writeFileSync(file, lines.join('\n'))
    const { code, stderr } = await runInMemory(['task', 'get', 't', '-a', url], { cwd })
    assert.equal(code, 0, stderr)
    assert.match(stderr, /Ignoring insecure, verify, svc-param, trust-project of .*\.env/)
    assert.ok(received.every(({ headers }) => headers['x-project'] === undefined))
    writeFileSync(file, lines.slice(0, 2).join('\n'))
    assert.equal((await runInMemory(['task', 'get', 't', '-a', url, '--config', file], { cwd })).code, 0)
    assert.equal(received.at(-1)?.headers['x-project'], '1')
  })
})

it('a catalog gets service parameters only as the host of the agent', async () => {
  const agent = await handmadeAgent()
  const catalog = await handmadeAgent({ answer: () => undefined })
  const parameter = ['--svc-param', 'X-Token:secret-token']
  await runInMemory(['task', 'get', 't', '-a', 'hand', '--catalog', `${catalog.url}/list`, ...parameter])
  assert.ok(catalog.received.length > 0)
  assert.ok(catalog.received.every(({ headers }) => headers['x-token'] === undefined))
  await runInMemory(['task', 'get', 't', '-a', `hand@${agent.url}`, ...parameter])
  assert.equal(agent.received[0]?.headers['x-token'], 'secret-token')
})
