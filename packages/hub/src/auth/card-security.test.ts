import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { cardSecurity } from './card-security.ts'

describe('what a card says of who may call', () => {
  it('is a bearer or a key, each enough by itself, and how to come by a key [S4-13 S2-28]', () => {
    const { securitySchemes, securityRequirements } = cardSecurity('gpt', {
      issuers: [],
      mtls: false,
      isAnonymousAllowed: false,
    })
    assert.deepEqual(securityRequirements, [
      { schemes: { bearer: { list: [] } } },
      { schemes: { apiKey: { list: [] } } },
    ])
    assert.match(JSON.stringify(securitySchemes), /POST \/a2a\/gpt\/api-key\/generate/)
    assert.doesNotMatch(JSON.stringify(securitySchemes), /JWT/)
  })

  it('names the issuers whose tokens are believed, certificates where they count, and that nothing will do where it is open', () => {
    const issuers = ['https://one.test', 'https://two.test']
    const { securitySchemes, securityRequirements } = cardSecurity('gpt', {
      issuers,
      mtls: true,
      isAnonymousAllowed: true,
    })
    assert.deepEqual(securitySchemes['bearer'], {
      httpAuthSecurityScheme: {
        scheme: 'Bearer',
        bearerFormat: 'JWT',
        description: 'A token of https://one.test or https://two.test, or an API key',
      },
    })
    assert.deepEqual(
      securityRequirements.map(({ schemes }) => Object.keys(schemes)),
      [['bearer'], ['apiKey'], ['mtls'], []],
    )
  })
})
