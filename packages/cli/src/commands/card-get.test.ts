import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { serveDemoAgent } from '../testing/demo-agent.ts'
import { createMemoryTerminal, runInMemory } from '../testing/memory-terminal.ts'

/** Serves one document as the card, and records the headers of each request. */
async function serveCard(document: unknown, status = 200) {
  const requests: Record<string, unknown>[] = []
  const server = createServer((request, response) => {
    requests.push({ path: request.url, ...request.headers })
    response.writeHead(request.url === '/.well-known/agent-card.json' ? status : 404, {
      'content-type': 'application/json',
    })
    response.end(typeof document === 'string' ? document : JSON.stringify(document))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

const card = {
  name: 'Ada',
  description: 'Adds\nnumbers',
  version: '1.0.0',
  supportedInterfaces: [
    { url: 'https://ada.test/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: 'acme' },
    { url: 'ada.test:443', protocolBinding: 'GRPC', protocolVersion: '1.0' },
  ],
  capabilities: { streaming: true, extensions: [{ uri: 'https://e.test/x', required: true }] },
  securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } } },
  securityRequirements: [{ schemes: { key: { list: [] } } }],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'add', name: 'Add', description: 'Adds', tags: ['math'], examples: ['1+1'] }],
  later: { unknown: true },
}
const legacyCard = {
  protocolVersion: '0.3.0',
  name: 'Old',
  description: 'd',
  version: '1',
  url: 'https://old.test/',
  preferredTransport: 'JSONRPC',
  capabilities: {},
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
}
interface JsonError {
  readonly error: { readonly code: string; readonly message: string; readonly hint: string | null }
}
const errorOf = (text: string) => (JSON.parse(text) as JsonError).error

describe('card get', () => {
  it('shows identity, capabilities, interfaces, security and skills', async () => {
    const { url } = await serveCard(card)
    const { code, stdout } = await runInMemory(['card', 'get', '-a', url])
    assert.equal(code, 0)
    for (const line of [
      'Name: Ada',
      'Description:\n  Adds\n  numbers\n',
      'Streaming: yes',
      'Push Notifications: no',
      'Extended Card: no',
      'Extension: https://e.test/x (required)',
      'Interface: JSONRPC 1.0 https://ada.test/a2a (tenant acme)',
      'Interface: GRPC 1.0 ada.test:443',
      'Security Scheme: key (API key in the header X-Key)',
      'Skill: Add (add)',
      'Example: 1+1',
      'Signature: absent',
    ])
      assert.ok(stdout.includes(line), `${line} in\n${stdout}`)
  })

  it('prints the document of a 1.0 card as it was sent, and a 0.3 card as 1.0 writes it', async () => {
    const { url, requests } = await serveCard(card)
    const { stdout, stderr } = await runInMemory(['card', 'get', '-a', url, '-o', 'json'])
    assert.deepEqual(JSON.parse(stdout), card)
    assert.equal(stderr, 'Signature: absent\n')
    assert.equal(requests[0]?.['a2a-version'], '1.0')
    const old = await serveCard(legacyCard)
    const line = await runInMemory(['card', 'get', '-a', old.url, '-o', 'json', '--stream'])
    assert.equal(line.stdout.trimEnd().includes('\n'), false)
    const normalized = JSON.parse(line.stdout) as typeof card
    assert.deepEqual(normalized.supportedInterfaces, [
      { url: 'https://old.test/', protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    ])
  })

  it('reads a card from a file, and from a URL that names it', async () => {
    const terminal = createMemoryTerminal()
    writeFileSync(join(terminal.cwd, 'ada.json'), JSON.stringify(card))
    const { stdout } = await runInMemory(['card', 'get', '-a', './ada.json'], { cwd: terminal.cwd })
    assert.match(stdout, /^Name: Ada\n/)
    const { url } = await serveCard(card)
    const byUrl = await runInMemory(['card', 'get', '-a', `${url}/.well-known/agent-card.json`])
    assert.match(byUrl.stdout, /^Name: Ada\n/)
  })

  it('lists every violation of --validate', async () => {
    const { description: _, ...incomplete } = card
    const { url } = await serveCard({ ...incomplete, skills: [{ id: 'add', name: 'Add' }] })
    const { code, stdout } = await runInMemory(['card', 'get', '-a', url, '--validate', '-o', 'json'])
    const error = errorOf(stdout)
    assert.deepEqual([code, error.code], [1, 'A2ACLI_ERR_CARD_INVALID'])
    for (const field of ['description', 'skills[0].description', 'skills[0].tags'])
      assert.ok(error.message.includes(field), error.message)
    // Also where the card is too incomplete to be used at all.
    const { name: _name, skills: _skills, ...useless } = card
    const all = await serveCard({ ...useless, version: 7 })
    const { message } = errorOf((await runInMemory(['card', 'get', '-a', all.url, '--validate', '-o', 'json'])).stdout)
    for (const field of ['name', 'skills', 'version']) assert.ok(message.includes(`${field} `), message)
    const dangling = await serveCard({ ...card, securityRequirements: [{ schemes: { none: { list: [] } } }] })
    assert.match(
      errorOf((await runInMemory(['card', 'get', '-a', dangling.url, '--validate', '-o', 'json'])).stdout).message,
      /securityRequirements\[0\] names the undeclared scheme none/,
    )
    const valid = await serveCard(card)
    const { code: ok, stderr } = await runInMemory(['card', 'get', '-a', valid.url, '--validate'])
    assert.equal(ok, 0)
    assert.match(stderr, /The card is valid/)
  })

  it('has one code for each way to fail', async () => {
    const fails = async (reference: string, code: string, exit: number) => {
      const { code: actual, stdout } = await runInMemory(['card', 'get', '-a', reference, '-o', 'json'])
      assert.deepEqual([errorOf(stdout).code, actual], [`A2ACLI_ERR_${code}`, exit], reference)
    }
    await fails((await serveCard('', 404)).url, 'CARD_NOT_FOUND', 3)
    await fails((await serveCard('<html>')).url, 'CARD_INVALID', 1)
    await fails((await serveCard({ name: 'only' })).url, 'CARD_INVALID', 1)
    await fails('127.0.0.1:9', 'UNREACHABLE', 3)
    await fails((await serveCard('', 403)).url, 'AUTH_FAILED', 4)
    await fails('./no-such-file.json', 'CARD_NOT_FOUND', 3)
  })

  it('fetches the extended card, if the agent declares one', async () => {
    const { url } = await serveDemoAgent()
    const { code, stdout } = await runInMemory(['card', 'get', '-a', url, '--extended', '-o', 'json'])
    assert.deepEqual([code, errorOf(stdout).code], [1, 'UnsupportedOperationError'])
  })

  it('needs an agent, and knows no card of an endpoint', async () => {
    assert.equal((await runInMemory(['card', 'get'])).code, 2)
    assert.equal((await runInMemory(['card', 'get', '-e', 'http://127.0.0.1:9', '--transport', 'rest'])).code, 2)
  })
})
