/** What an operator may omit from a card, and the shape of the card for requests that name no version. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { type AgentSettings, createHandler, type HandlerOptions } from '../index.ts'

const opened: { close(): Promise<void> }[] = []
after(() => Promise.all(opened.map((handler) => handler.close())))

function open(options: Partial<HandlerOptions>) {
  const handler = createHandler({ store: memoryStore(), ...options })
  opened.push(handler)
  const card = async (path = '', version?: string) => {
    const headers: Record<string, string> = version === undefined ? {} : { 'a2a-version': version }
    const url = `http://agent.example${path}/.well-known/agent-card.json`
    return (await (await handler.fetch(new Request(url, { headers }))).json()) as Record<string, any>
  }
  return { handler, card }
}

const agent = (): string => 'hi'
const security = {
  securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
  securityRequirements: [{ schemes: { bearer: { list: [] } } }],
} satisfies Partial<AgentSettings>
const bindingsOf = (card: Record<string, any>): string[] =>
  card['supportedInterfaces'].map((one: { protocolBinding: string }) => one.protocolBinding)

describe('the settings of a card', () => {
  it('omit bindings that are still served, in the format of each version', async () => {
    const { handler, card } = open({ agent, grpcUrl: 'agent.example:443', omitInterfaces: ['GRPC', 'HTTP+JSON'] })
    assert.deepEqual(bindingsOf(await card()), ['JSONRPC', 'JSONRPC'])
    const old = await card('', '0.3')
    assert.deepEqual(old['additionalInterfaces'], [{ url: 'http://agent.example/a2a', transport: 'JSONRPC' }])
    const body = JSON.stringify({ message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }] } })
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' }
    const sent = await handler.fetch(
      new Request('http://agent.example/message:send', { method: 'POST', headers, body }),
    )
    assert.equal(sent.status, 200)
  })

  it('default to those of the server', async () => {
    const own = { agent, omitInterfaces: [], omitSecurityRequirements: false, card: '0.3' } satisfies AgentSettings
    const { card } = open({
      agents: { ann: { ...own, ...security }, bob: { agent, ...security } },
      omitInterfaces: ['HTTP+JSON'],
      omitSecurityRequirements: true,
      card: '1.0',
    })
    const bob = await card('/a2a/bob')
    assert.deepEqual([bob['protocolVersion'], bob['securityRequirements']], [undefined, undefined])
    assert.deepEqual(bindingsOf(bob), ['JSONRPC', 'JSONRPC'])
    const ann = await card('/a2a/ann')
    assert.deepEqual([ann['protocolVersion'], ann['supportedInterfaces']], ['0.3.0', undefined])
    assert.deepEqual(ann['security'], [{ bearer: [] }])
    assert.equal(ann['additionalInterfaces'].length, 2)
  })

  it('omit requirements, also of the skills, and keep the schemes', async () => {
    const skill = { id: 's', name: 'S', description: 'S', tags: ['s'], ...security }
    const { securitySchemes: _, ...skillOnCard } = skill
    const { card } = open({ agent, ...security, skills: [skillOnCard], omitSecurityRequirements: true })
    for (const version of ['1.0', '0.3', undefined]) {
      const shown = await card('', version)
      assert.ok('bearer' in shown['securitySchemes'])
      assert.doesNotMatch(JSON.stringify(shown), /"security"|securityRequirements/)
    }
  })

  it('keep at least one interface', () => {
    const omitInterfaces = ['JSONRPC', 'HTTP+JSON', 'GRPC'] as const
    assert.throws(() => open({ agent, omitInterfaces }), { name: 'ConfigError', path: 'omitInterfaces' })
    const agents = { ann: { agent, omitInterfaces } }
    assert.throws(() => open({ agents }), { name: 'ConfigError', path: 'agents.ann.omitInterfaces' })
    assert.throws(() => open({ agents: { bob: agent }, omitInterfaces }), {
      name: 'ConfigError',
      path: 'omitInterfaces',
    })
  })
})

describe('an extension of the server', () => {
  it('can be required by one agent, with the same effect as elsewhere', async () => {
    const shared = { uri: 'urn:x', description: 'X', decorate: () => ({ 'urn:x': { seen: true } }) }
    const { handler, card } = open({
      agents: { ann: { agent, extensions: [{ uri: 'urn:x', required: true }] }, bob: agent },
      extensions: [shared],
    })
    const declared = async (path: string) => (await card(path, '1.0'))['capabilities'].extensions
    assert.deepEqual(await declared('/a2a/ann'), [{ uri: 'urn:x', description: 'X', required: true }])
    assert.deepEqual(await declared('/a2a/bob'), [{ uri: 'urn:x', description: 'X' }])
    const stream = async (more: Record<string, string>) => {
      const body = JSON.stringify({
        message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }] },
      })
      const headers = { 'content-type': 'application/json', 'a2a-version': '1.0', ...more }
      const url = 'http://agent.example/a2a/ann/message:stream'
      return (await handler.fetch(new Request(url, { method: 'POST', headers, body }))).text()
    }
    assert.match(await stream({}), /EXTENSION_SUPPORT_REQUIRED/)
    assert.match(await stream({ 'a2a-extensions': 'urn:x' }), /"urn:x":\{"seen":true\}/)
  })
})
