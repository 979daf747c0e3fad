import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AgentCard } from '../../model/card.ts'
import { A2AError } from '../../model/error.ts'
import { withErrorHints } from '../fallback.ts'

const bare: AgentCard = {
  name: 'A',
  description: '',
  version: '1',
  supportedInterfaces: [],
  capabilities: {},
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: [],
}
const securitySchemes: AgentCard['securitySchemes'] = {
  token: { httpAuthSecurityScheme: { scheme: 'bearer' } },
  key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } },
  login: { oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: 'https://id.example', scopes: {} } } } },
  id: { openIdConnectSecurityScheme: { openIdConnectUrl: 'https://id.example' } },
  cert: { mtlsSecurityScheme: {} },
}
const needs = (...names: string[]) => ({ schemes: Object.fromEntries(names.map((name) => [name, { list: [] }])) })

const withRequiredSchemes = (error: A2AError, card: AgentCard) => withErrorHints(error, { id: 't' }, card) as A2AError
const describeRequiredSchemes = (card: AgentCard) =>
  withRequiredSchemes(new A2AError('UNAUTHENTICATED', 'Who are you?'), card).details['schemes']

describe('the requirements of a card', () => {
  it('are described as text: alternatives, and combinations', () => {
    const card = { ...bare, securitySchemes, securityRequirements: [needs('token', 'key'), needs('cert'), needs()] }
    assert.equal(
      describeRequiredSchemes(card),
      'token (HTTP bearer) with key (API key in the header X-Key), or cert (a client certificate), or nothing',
    )
  })

  it('are described with scopes, also for undeclared schemes', () => {
    const scoped = { schemes: { login: { list: ['read', 'write'] } } }
    const card = { ...bare, securitySchemes, securityRequirements: [scoped, needs('id', 'lost')] }
    assert.equal(
      describeRequiredSchemes(card),
      'login (OAuth 2, client credentials, scopes read write), or id (OpenID Connect) with lost (of an unknown type)',
    )
  })

  it('are all schemes if there is no requirement, and omitted if there are none', () => {
    const { token = assert.fail(), key = assert.fail() } = securitySchemes
    assert.equal(
      describeRequiredSchemes({ ...bare, securitySchemes: { token, key } }),
      'token (HTTP bearer), or key (API key in the header X-Key)',
    )
    assert.equal(describeRequiredSchemes(bare), undefined)
  })

  it('are added to an error, once, and leave the rest unchanged', () => {
    const cause = new Error('why')
    const error = new A2AError('UNAUTHENTICATED', 'Who are you?', { challenge: 'Bearer' }, { cause })
    const card = { ...bare, securitySchemes, securityRequirements: [needs('token')] }
    const described = withRequiredSchemes(error, card)
    assert.equal(described.message, 'Who are you? (the card requires token (HTTP bearer))')
    assert.deepEqual(described.details, { challenge: 'Bearer', schemes: 'token (HTTP bearer)' })
    assert.equal(described.cause, cause)
    assert.equal(withRequiredSchemes(described, card), described)
    assert.equal(withRequiredSchemes(error, bare), error)
  })
})
