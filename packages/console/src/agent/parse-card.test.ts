import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseCard } from './parse-card.ts'

describe('a parsed card', () => {
  it('has the provider, the capabilities and the modes', () => {
    const card = parseCard({
      description: 'Says what you say',
      provider: { organization: 'Example', url: 'https://example.com' },
      documentationUrl: 'https://example.com/docs',
      capabilities: { streaming: true, extensions: [{ uri: 'urn:x', description: 'An x' }] },
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain', 'image/png'],
      skills: [{ id: 'say', name: 'Say', description: 'Says it', tags: ['talk'], examples: ['Hello'] }],
    })
    assert.deepEqual(card.provider, { name: 'Example', url: 'https://example.com' })
    assert.deepEqual([card.streaming, card.push, card.extendedCard], [true, false, false])
    assert.deepEqual(card.skills, [
      { id: 'say', name: 'Say', description: 'Says it', tags: ['talk'], examples: ['Hello'], modes: [] },
    ])
    assert.deepEqual(card.extensions, [{ uri: 'urn:x', description: 'An x' }])
    assert.deepEqual(card.outputModes, ['text/plain', 'image/png'])
  })

  it('describes the credentials that callers need', () => {
    const securitySchemes = {
      bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } },
      apiKey: { apiKeySecurityScheme: { location: 'header', name: 'X-API-Key' } },
      basic: { httpAuthSecurityScheme: { scheme: 'Basic' } },
      tls: { mtlsSecurityScheme: {} },
      oidc: { openIdConnectSecurityScheme: { openIdConnectUrl: 'https://id.example.com' } },
    }
    const needs = (...names: string[]) => ({ schemes: Object.fromEntries(names.map((name) => [name, { list: [] }])) })
    const securityRequirements = [
      needs('bearer'),
      needs('apiKey'),
      needs('basic', 'tls'),
      needs('oidc'),
      needs('own'),
      needs(),
    ]
    assert.deepEqual(parseCard({ securitySchemes, securityRequirements }).security, [
      'Bearer token or API key',
      'API key in header X-API-Key',
      'User name and password (Basic) and Client certificate (mTLS)',
      'OpenID Connect (https://id.example.com)',
      'own',
      'None',
    ])
    assert.deepEqual(parseCard({}).security, ['None'])
    const { basic } = securitySchemes
    assert.deepEqual(parseCard({ securitySchemes: { basic } }).security, ['None', 'User name and password (Basic)'])
  })

  it('omits invalid members', () => {
    const odd = [
      undefined,
      null,
      7,
      'x',
      [],
      { skills: { a: 1 }, provider: [], capabilities: 'x', defaultInputModes: 'y' },
    ]
    for (const card of odd) assert.deepEqual(parseCard(card).skills, [])
    const [skill] = parseCard({ skills: [{ id: 5, tags: [1, 'a', null], examples: 'no' }] }).skills
    assert.deepEqual(skill, { id: '', name: '', description: '', tags: ['a'], examples: [], modes: [] })
  })
})
