import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AgentCard } from '../model/card.ts'
import { mergedCard } from './merged-card.ts'
import { v0_2 } from './v0_2/index.ts'
import { v0_3 } from './v0_3/index.ts'
import { v1_0 } from './v1_0/index.ts'

const flow = { tokenUrl: 'https://id.example.com/token', scopes: { read: 'May read' } }
const card: AgentCard = {
  name: 'Agent',
  description: 'Does things',
  supportedInterfaces: [
    { url: 'https://a.example.com/rest', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    { url: 'https://a.example.com/rest', protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
    { url: 'https://a.example.com/a2a', protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    { url: 'https://a.example.com/a2a', protocolBinding: 'JSONRPC', protocolVersion: '0.2' },
  ],
  version: '1.0.0',
  capabilities: { streaming: true, extendedAgentCard: true },
  securitySchemes: {
    key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } },
    device: {
      oauth2SecurityScheme: { flows: { deviceCode: { ...flow, deviceAuthorizationUrl: 'https://id.example.com/d' } } },
    },
  },
  securityRequirements: [{ schemes: { key: { list: [] } } }, { schemes: { device: { list: ['read'] } } }],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [
    {
      id: 's',
      name: 'S',
      description: 'd',
      tags: ['t'],
      securityRequirements: [{ schemes: { key: { list: [] } } }],
    },
  ],
  signatures: [{ protected: 'eyJ', signature: 'abc' }],
}
const modernOnly: AgentCard = {
  ...card,
  supportedInterfaces: card.supportedInterfaces.filter(({ protocolVersion }) => protocolVersion === '1.0'),
}

describe('a card for 0.x', () => {
  it('has the JSON-RPC interface as its main url and each of its own interfaces once [B-19]', () => {
    const encoded = v0_3.json.encodeCard(card)
    assert.equal(encoded['url'], 'https://a.example.com/a2a')
    assert.equal(encoded['preferredTransport'], 'JSONRPC')
    assert.deepEqual(encoded['additionalInterfaces'], [
      { url: 'https://a.example.com/rest', transport: 'HTTP+JSON' },
      { url: 'https://a.example.com/a2a', transport: 'JSONRPC' },
    ])
  })

  it('has its version', () => {
    assert.equal(v0_3.json.encodeCard(card)['protocolVersion'], '0.3.0')
    assert.equal(v0_2.json.encodeCard(card)['protocolVersion'], '0.2.6')
  })

  it('omits the device code flow, its requirements, and signatures of the 1.0 view', () => {
    const encoded = v0_3.json.encodeCard(card)
    assert.deepEqual(encoded['securitySchemes'], { key: { type: 'apiKey', in: 'header', name: 'X-Key' } })
    assert.deepEqual(encoded['security'], [{ key: [] }])
    assert.equal('signatures' in encoded, false)
  })

  it('does not exist for an agent with 1.0 only', () => {
    for (const dialect of [v0_3.json, v0_3.proto, v0_2.json]) {
      assert.throws(() => dialect.encodeCard(modernOnly), { code: 'VERSION_NOT_SUPPORTED' })
    }
  })

  it('of 0.2 needs JSON-RPC, the only binding of 0.2 clients; of 0.3 it does not', () => {
    const rest = {
      ...card,
      supportedInterfaces: card.supportedInterfaces.filter(({ protocolBinding }) => protocolBinding !== 'JSONRPC'),
    }
    assert.equal(v0_3.json.encodeCard(rest)['preferredTransport'], 'HTTP+JSON')
    assert.throws(() => v0_2.json.encodeCard(rest), { code: 'VERSION_NOT_SUPPORTED' })
  })
})

describe('the merged card', () => {
  const merged = mergedCard(card)

  it('is read by 1.0 as the card itself [B-28]', () => assert.deepEqual(v1_0.json.decodeCard(merged, true), card))

  it('has every field of the 0.3 card', () => {
    const { securitySchemes, skills, capabilities, ...others } = v0_3.json.encodeCard(card)
    assert.deepEqual(merged['capabilities'], { ...(capabilities as object), extendedAgentCard: true })
    for (const [name, value] of Object.entries(others)) assert.deepEqual(merged[name], value, name)
    assert.deepEqual(merged['securitySchemes'], {
      key: {
        apiKeySecurityScheme: { location: 'header', name: 'X-Key' },
        ...(securitySchemes as { key: object }).key,
      },
      device: card.securitySchemes?.['device'],
    })
    assert.deepEqual(merged['skills'], [{ ...card.skills[0], ...(skills as object[])[0] }])
  })

  it('of an agent with 1.0 only is the 1.0 card', () =>
    assert.deepEqual(mergedCard(modernOnly), v1_0.json.encodeCard(modernOnly)))
})

describe('reading a card', () => {
  const read = v1_0.json.decodeCard

  it('names the missing fields [B-26]', () => {
    assert.throws(() => read({ supportedInterfaces: [{ url: 'x' }] }), {
      code: 'INVALID_AGENT_RESPONSE',
      message: /name is required; version is required/,
    })
    assert.throws(() => read({ name: 'n', version: '1' }), { message: /supportedInterfaces is required/ })
    assert.throws(() => read({ name: 'n', version: '1', preferredTransport: 'GRPC' }), { message: /url is required/ })
    assert.throws(() => read([]), { message: /card must be an object/ })
    assert.throws(() => read({ name: 'n', version: '1', supportedInterfaces: [{}] }), {
      message: /supportedInterfaces\[0\]\.url is required/,
    })
  })

  it('accepts fields that generators omit, unless it is strict [J-7 J-9]', () => {
    const bare = { name: 'n', version: '1', supportedInterfaces: [{ url: 'https://a.example.com' }] }
    assert.deepEqual(read(bare), {
      ...bare,
      supportedInterfaces: [{ url: 'https://a.example.com', protocolBinding: 'JSONRPC', protocolVersion: '0.3' }],
      description: '',
      capabilities: {},
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
    })
    assert.throws(() => read(bare, true), {
      message: /supportedInterfaces\[0\]\.protocolBinding is required.*skills is required/,
    })
  })

  it('skips an unknown security scheme', () => {
    const securitySchemes = { new: { type: 'retina' }, bearer: { type: 'http', scheme: 'bearer' } }
    const { securitySchemes: schemes } = read({
      name: 'n',
      version: '1',
      url: 'https://a.example.com',
      securitySchemes,
    })
    assert.deepEqual(schemes, { bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } } })
  })

  it('detects the version by shape: fields of 0.x count only without supportedInterfaces [B-28]', () => {
    const old = { name: 'n', version: '1', url: 'https://a.example.com', protocolVersion: '0.2.6' }
    assert.deepEqual(read({ ...old, supportedInterfaces: [] }).supportedInterfaces, [
      { url: 'https://a.example.com', protocolBinding: 'JSONRPC', protocolVersion: '0.2' },
    ])
  })

  it('finds in a merged card what only its 0.x half declares: an extended card [B-28]', () => {
    const supportedInterfaces = [{ url: 'https://a.example.com', protocolBinding: 'JSONRPC', protocolVersion: '0.3' }]
    const both = {
      name: 'n',
      version: '1',
      url: 'https://a.example.com',
      protocolVersion: '0.3.0',
      supportedInterfaces,
    }
    const announced = { ...both, capabilities: { streaming: true }, supportsAuthenticatedExtendedCard: true }
    assert.deepEqual(read(announced).capabilities, { streaming: true, extendedAgentCard: true })
    const denied = { ...announced, capabilities: { extendedAgentCard: false } }
    assert.deepEqual(read(denied).capabilities, { extendedAgentCard: false })
  })
})
