/** Every endpoint of every listener × every kind of credential: access is exactly as documented in docs/explanation/security.md. */
import assert from 'node:assert/strict'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { Client, credentials as grpcCredentials, Metadata, status } from '@grpc/grpc-js'
import { openTokenIssuer, openTestHub } from '../admin/test-hub.ts'
import type { AuthHeaders } from '../admin/test-hub.ts'
import { freePort } from '../free-port.ts'
import { credentialNames, openCredentials } from './credentials.ts'
import { endpoints, guards } from './endpoints.ts'
import type { Endpoint } from './endpoints.ts'
import { asMarkdown, isAllowed } from './access-table.ts'

const issuer = await openTokenIssuer()
const ownPort = await freePort()
// The built console need not exist.
const consoleFolder = mkdtempSync(join(tmpdir(), 'parley-console-'))
writeFileSync(join(consoleFolder, 'index.html'), '<title>Console</title>')
after(() => rmSync(consoleFolder, { recursive: true }))
const testHub = await openTestHub({
  console: pathToFileURL(`${consoleFolder}/`),
  config: {
    listen: { port: 0, grpcPort: 0 },
    // Behind a proxy, local requests are not those of the operator.
    trustProxy: true,
    access: {
      jwt: [{ ...issuer.entry, scopes: { operators: ['admin'], members: ['agent:private'], all: ['agent:*'] } }],
    },
    profiles: { simpleTasks: true, botChat: true, olderDraft: true },
    agents: {
      private: {
        kind: 'demo',
        agent: 'echo',
        default: true,
        grpcPort: ownPort,
        card: { extended: { description: 'Echoes for those it knows' } },
      },
      other: { kind: 'demo', agent: 'echo' },
    },
  },
})
const credentials = await openCredentials(testHub, issuer)
const { json: document } = await testHub.ask('GET', '/admin/openapi.json')
const all = endpoints(document)

const clients = new Map<number, Client>()
after(() => {
  for (const client of clients.values()) client.close()
})

type Outcome = 'let in' | 'refused' | `failed: ${string}`
/** After too many wrong admin keys the answer is 429 instead of 401. */
const refusing = [401, 403, 429]

async function overHttp({ method, path, headers, body }: Endpoint, proof: AuthHeaders): Promise<Outcome> {
  const leaving = new AbortController()
  const content = body === undefined ? {} : { 'content-type': 'application/json' }
  const response = await fetch(testHub.url + path, {
    method,
    redirect: 'manual',
    signal: leaving.signal,
    headers: { ...content, ...headers, ...proof },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  // Some are streams without an end.
  leaving.abort()
  if (refusing.includes(response.status)) return 'refused'
  return response.status < 500 ? 'let in' : `failed: ${response.status}`
}

function overGrpc({ listener, path, headers }: Endpoint, proof: AuthHeaders): Promise<Outcome> {
  const client = clientAt(listener === 'gRPC' ? (testHub.hub.grpcPort as number) : ownPort)
  const metadata = new Metadata()
  for (const [name, value] of Object.entries({ ...headers, ...proof })) metadata.set(name, value)
  const bytes = (given: Uint8Array): Buffer => Buffer.from(given)
  return new Promise((resolve) => {
    // Unary calls look like streams of one message here.
    const call = client.makeServerStreamRequest(path, bytes, bytes, Buffer.alloc(0), metadata)
    call.on('error', () => {})
    call.on('data', () => {})
    call.on('status', ({ code }) => {
      if (code === status.UNAUTHENTICATED || code === status.PERMISSION_DENIED) resolve('refused')
      else if ([status.INTERNAL, status.UNKNOWN, status.UNAVAILABLE].includes(code)) resolve(`failed: ${status[code]}`)
      else resolve('let in')
    })
  })
}

function clientAt(port: number): Client {
  const known = clients.get(port) ?? new Client(`127.0.0.1:${port}`, grpcCredentials.createInsecure())
  clients.set(port, known)
  return known
}

describe('who is let in', () => {
  for (const name of credentialNames) {
    it(`with ${name}: at ${all.length} endpoints as docs/explanation/security.md says`, async () => {
      const wrong: string[] = []
      for (const endpoint of all) {
        const outcome = await (endpoint.listener === 'HTTP' ? overHttp : overGrpc)(endpoint, await credentials[name]())
        const expected = isAllowed(endpoint.guard, name) ? 'let in' : 'refused'
        const { guard, listener, method, path } = endpoint
        if (outcome !== expected) wrong.push(`${guard}: ${listener} ${method} ${path}: ${outcome}`)
      }
      assert.deepEqual(wrong, [])
    })
  }

  it('is written in docs/explanation/security.md as it is tested here', () => {
    const page = readFileSync(join(root, 'docs/explanation/security.md'), 'utf8')
    assert.ok(page.includes(asMarkdown()), `docs/explanation/security.md lacks this table:\n\n${asMarkdown()}`)
  })
})

describe('docs/explanation/security.md', () => {
  it('names tests that exist', () => {
    const page = readFileSync(join(root, 'docs/explanation/security.md'), 'utf8')
    const cited = [...page.matchAll(/`((?:test|packages|scripts)\/[^`]+)`/g)].map(([, path = '']) => path)
    assert.ok(cited.length > 30)
    assert.deepEqual(
      cited.filter((path) => !existsSync(join(root, path))),
      [],
    )
  })
})

const root = join(import.meta.dirname, '../..')

/** Literals that begin with a slash and are no routes of the hub's. */
const otherwise = new Set([
  '/', // ends and separators of paths
  '/admin', // below it everything is the admin API's, and 404 behind its guard if there is nothing
  '/admin/',
  '/agent', // examples of where a framework mounts a handler
  '/agent/*',
  '/hook', // an example of where a program receives webhooks
  '/api-key', // the end of a path that is in the OpenAPI document whole
  '/api/a2a/', // prefixes of what is tested below them
  '/console/',
  '/v1',
  '/v1/',
  '/a2a/-', // the path of no agent
  '/{',
])

describe('the endpoints that are tested', () => {
  it('are at least one for each guard, over each listener', () => {
    for (const guard of guards)
      assert.ok(
        all.some((endpoint) => endpoint.guard === guard),
        guard,
      )
    for (const listener of ['HTTP', 'gRPC', "gRPC of the agent's own port"]) {
      assert.ok(
        all.some((endpoint) => endpoint.listener === listener),
        listener,
      )
    }
  })

  it('are all there are: each path in the sources of the servers is among them', () => {
    const sources = globSync(
      [
        'packages/a2a/src/server/**/*.ts',
        'packages/hub/src/{admin,console,discovery,mcp,profiles,telemetry}/**/*.ts',
        'packages/hub/src/*.ts',
      ],
      { cwd: root },
    ).filter((file) => !file.endsWith('.test.ts'))
    const known = all.map(({ path }) => path)
    const missing = sources.flatMap((file) => {
      const code = readFileSync(join(root, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/ .*$/gm, '')
      const literals = [...code.matchAll(/'(\/[^'\s]*)'/g)].map(([, literal = '']) => literal)
      return literals
        .map((literal) =>
          literal.replaceAll(/\{\w+\}/g, (name) =>
            name === '{agent}' && literal.startsWith('/a2a/') ? 'private' : 'absent',
          ),
        )
        .filter(
          (literal) => !otherwise.has(literal) && !known.some((path) => path === literal || path.endsWith(literal)),
        )
        .map((literal) => `${file}: ${literal}`)
    })
    assert.deepEqual(missing, [])
  })
})
