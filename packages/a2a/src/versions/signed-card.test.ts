import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AgentCard } from '../model/card.ts'
import { canonicalJson } from './canonical-json.ts'
import { mergedCard } from './merged-card.ts'
import { signedReadings, signedText, signedView } from './signed-card.ts'

const card: AgentCard = {
  name: 'Ada',
  description: 'Adds',
  supportedInterfaces: [
    { url: 'https://ada.test/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: 'https://ada.test/a2a', protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
  ],
  version: '1.0.0',
  capabilities: { streaming: true, pushNotifications: false, extensions: [] },
  securitySchemes: {
    token: { httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' } },
    machine: { mtlsSecurityScheme: {} },
  },
  securityRequirements: [{ schemes: { token: { list: [] } } }, { schemes: { machine: { list: [] } } }],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [
    {
      id: 'add',
      name: 'Add',
      description: 'Adds',
      tags: ['math'],
      securityRequirements: [{ schemes: { token: { list: ['add'] } } }],
    },
  ],
}
const text = (document: object): string => canonicalJson(signedView(document as never))

describe('the signed form of a card', () => {
  it('matches the example of the specification: set and required fields stay, others are omitted at their default [B-30]', () => {
    const document = {
      name: 'Example Agent',
      description: '',
      capabilities: { streaming: false, pushNotifications: false, extensions: [] },
      skills: [],
    }
    const expected =
      '{"capabilities":{"pushNotifications":false,"streaming":false},"description":"","name":"Example Agent","skills":[]}'
    assert.equal(text(document), expected)
    const [spec, stripped] = signedReadings(document)
    assert.deepEqual([spec?.form, spec?.text], ['canonical', expected])
    // The text that published SDKs produce for the same card.
    const theirs = '{"capabilities":{"pushNotifications":false,"streaming":false},"name":"Example Agent"}'
    assert.deepEqual([stripped?.form, stripped?.text], ['stripped', theirs])
  })

  it('keeps explicitly set fields, even if empty, and omits all other defaults, at any depth [B-30]', () => {
    const { skills: _, ...rest } = card
    const document = {
      ...rest,
      documentationUrl: '',
      iconUrl: null,
      capabilities: {
        extendedAgentCard: false,
        extensions: [{ uri: 'urn:x', required: false, description: '', params: {} }],
      },
      supportedInterfaces: [{ url: 'u', protocolBinding: '', tenant: '', protocolVersion: '1.0' }],
      skills: [{ id: 'a', name: '', description: '', tags: [], examples: [], securityRequirements: [] }],
      securitySchemes: {
        code: {
          oauth2SecurityScheme: {
            flows: {
              authorizationCode: {
                authorizationUrl: 'a',
                tokenUrl: '',
                refreshUrl: '',
                scopes: {},
                pkceRequired: false,
              },
            },
            oauth2MetadataUrl: '',
          },
        },
      },
    }
    assert.deepEqual(signedView(document), {
      name: 'Ada',
      description: 'Adds',
      supportedInterfaces: [{ url: 'u', protocolBinding: '', protocolVersion: '1.0' }],
      version: '1.0.0',
      documentationUrl: '',
      capabilities: { extensions: [{ uri: 'urn:x' }], extendedAgentCard: false },
      securitySchemes: {
        code: {
          oauth2SecurityScheme: {
            flows: { authorizationCode: { authorizationUrl: 'a', tokenUrl: '', scopes: {} } },
          },
        },
      },
      securityRequirements: [{ schemes: { token: {} } }, { schemes: { machine: {} } }],
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      skills: [{ id: 'a', name: '', description: '', tags: [] }],
    })
  })

  it('covers schemes and requirements, also those without scopes and fields [B-30]', () => {
    const signed = signedText(card)
    assert.ok(signed.includes('"securityRequirements":[{"schemes":{"token":{}}},{"schemes":{"machine":{}}}]'))
    assert.ok(signed.includes('"machine":{"mtlsSecurityScheme":{}}'))
    const changes: Partial<AgentCard>[] = [
      { securityRequirements: [] },
      { securityRequirements: [{ schemes: { token: { list: [] } } }] },
      { securityRequirements: [{ schemes: { token: { list: ['x'] } } }, { schemes: { machine: { list: [] } } }] },
      {
        securitySchemes: {
          token: { httpAuthSecurityScheme: { scheme: 'Bearer' } },
          machine: { mtlsSecurityScheme: {} },
        },
      },
      { securitySchemes: { token: { httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' } } } },
      { skills: card.skills.map(({ securityRequirements: _, ...skill }) => skill) },
    ]
    for (const change of changes) {
      const changed = { ...card, ...change }
      // No reading yields the signed bytes.
      for (const { text: other } of signedReadings({ ...changed })) assert.notEqual(other, signed)
    }
  })

  it('omits the signatures, and the fields of a merged document that are not of 1.0 [B-30 B-34]', () => {
    const signatures = [{ protected: 'e30', signature: 'x' }]
    assert.equal(text(mergedCard({ ...card, signatures })), signedText(card))
    assert.equal(text({ ...card, signatures, security: [], url: 'https://evil.test', nonsense: 1 }), signedText(card))
  })

  it('is the same for our cards under the rule and under that of published SDKs, if nothing is empty [B-30]', () => {
    const { securityRequirements: _, securitySchemes: __, ...plain } = card
    const forms = signedReadings({ ...plain }).map(({ form }) => form)
    // The unchanged document still has its empty list of extensions.
    assert.deepEqual(forms, ['canonical', 'raw'])
  })
})
