import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { authRequired, clientToolsExtension, inputRequired, type Message, type TaskStatus } from '@parley/a2a'
import { needsForm, parseQuestion, type AgentQuestion } from './parse-question.ts'

/** A question as an agent sends it. */
function asked({ state, message }: { state: unknown; message?: unknown }): AgentQuestion {
  const said = typeof message === 'string' ? { parts: [{ text: message }] } : message
  const status = {
    state,
    message: { messageId: 'q', role: 'ROLE_AGENT', ...(said as object) } as Message,
  } as TaskStatus
  return parseQuestion(status) as AgentQuestion
}

describe('the question of a waiting task', () => {
  it('is undefined if the task does not wait', () => {
    assert.equal(parseQuestion({ state: 'TASK_STATE_WORKING' }), undefined)
  })

  it('is a text, for which the composer is enough', () => {
    const question = asked(inputRequired('Which city?'))
    assert.deepEqual([question.isSecret, question.fields, needsForm(question)], [false, undefined, false])
  })

  it('is a secret, with the id of the request', () => {
    const question = asked(inputRequired('PIN?', { sensitive: true }))
    assert.ok(question.isSecret && needsForm(question))
    assert.match(question.requestId ?? '', /^[\da-f-]{36}$/)
  })

  it('is a form, wherever the schema is, with the known values', () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } } }
    const inPart = asked(
      inputRequired({
        parts: [{ text: 'Where?' }, { data: { requestedSchema: schema, arguments: { city: 'Rome' } } }],
      }),
    )
    assert.deepEqual(
      inPart.fields?.map(({ name, initial }) => [name, initial]),
      [['city', 'Rome']],
    )
    const itself = asked(inputRequired({ parts: [{ data: schema }] }))
    assert.equal(itself.fields?.length, 1)
    const metadata = { [clientToolsExtension]: { inputRequest: { requestId: 'r', schema } } }
    const inRequest = asked(inputRequired({ parts: [{ text: 'Where?' }], metadata }))
    assert.deepEqual([inRequest.fields?.length, inRequest.requestId], [1, 'r'])
  })

  it('is credentials, with the schemes, the links, and whether they may be sent in a message', () => {
    const schemes = {
      github: { httpAuthSecurityScheme: { scheme: 'bearer', description: 'A token' } },
      login: {
        oauth2SecurityScheme: {
          flows: {
            authorizationCode: {
              authorizationUrl: 'https://id.example.com/go',
              tokenUrl: 'https://id.example.com/t',
              scopes: {},
            },
          },
        },
      },
      trap: { openIdConnectSecurityScheme: { openIdConnectUrl: 'javascript:alert(1)' } },
      key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } },
    } as const
    const question = asked(
      authRequired({ parts: [{ text: 'Sign in' }, { url: 'https://example.com/in' }] }, { schemes, inBand: true }),
    )
    assert.deepEqual(
      question.schemes.map(({ name, what, link }) => [name, what, link]),
      [
        ['github', 'HTTP bearer', undefined],
        ['login', 'OAuth 2', 'https://id.example.com/go'],
        ['trap', 'OpenID Connect', undefined],
        ['key', 'API key in header X-Key', undefined],
      ],
    )
    assert.deepEqual([question.isAuth, question.isInBand, question.isSecret], [true, true, true])
    assert.deepEqual(question.links, ['https://example.com/in'])
    const apart = asked(authRequired('Sign in', { schemes }))
    assert.deepEqual([apart.isInBand, apart.isSecret, needsForm(apart)], [false, false, false])
  })

  it('is the result of a tool', () => {
    const metadata = { [clientToolsExtension]: { type: 'tool-use' } }
    const question = asked(
      inputRequired({ parts: [{ data: { toolUseId: 'u1', name: 'position', input: { of: 'me' } }, metadata }] }),
    )
    assert.deepEqual(question.calls, [{ toolUseId: 'u1', name: 'position', input: { of: 'me' } }])
    assert.equal(question.fields, undefined)
  })
})
