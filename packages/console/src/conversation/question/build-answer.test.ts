import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { clientToolsExtension as tools, credentialsExtension as credentials } from '@parley/a2a'
import {
  answerWithForm,
  answerWithText,
  answerWithCredentials,
  answerWithResults,
  redactSecrets,
} from './build-answer.ts'
import { formFieldsFromSchema } from './schema-form.ts'
import type { AgentQuestion } from './parse-question.ts'

const question: AgentQuestion = {
  isAuth: false,
  isSecret: false,
  isInBand: false,
  requestId: undefined,
  fields: undefined,
  schemes: [],
  links: [],
  calls: [],
}
const fields =
  formFieldsFromSchema({ properties: { city: { type: 'string' }, pin: { type: 'string', writeOnly: true } } }) ?? []

describe('an answer', () => {
  it('in text has a text part, and the result of the request if there is one', () => {
    assert.deepEqual(answerWithText(question, 'Rome'), { parts: [{ text: 'Rome' }], secrets: [] })
    assert.deepEqual(answerWithText({ ...question, requestId: 'r' }, 'Rome').parts, [
      { text: 'Rome' },
      { data: { toolUseId: 'r', result: 'Rome' }, metadata: { [tools]: { type: 'tool-result' } } },
    ])
  })

  it('with a secret has one marked part', () => {
    const secret = { ...question, isSecret: true }
    assert.deepEqual(answerWithText(secret, '1234'), {
      parts: [{ text: '1234', metadata: { [credentials]: { sensitive: true } } }],
      secrets: ['1234'],
    })
    assert.deepEqual(answerWithText({ ...secret, requestId: 'r' }, '1234').parts, [
      { data: { toolUseId: 'r', result: '1234' }, metadata: { [tools]: { type: 'tool-result', sensitive: true } } },
    ])
  })

  it('by a form has a data part and a text part', () => {
    assert.deepEqual(answerWithForm(question, fields, { city: 'Rome' }).parts, [
      { text: 'city: Rome' },
      { data: { city: 'Rome' }, mediaType: 'application/json' },
    ])
  })

  it('by a form with a secret has one marked part and no text', () => {
    const { parts, secrets } = answerWithForm(question, fields, { city: 'Rome', pin: '1234' })
    assert.deepEqual(secrets, ['1234'])
    assert.deepEqual(parts, [
      {
        data: { city: 'Rome', pin: '1234' },
        mediaType: 'application/json',
        metadata: { [credentials]: { sensitive: true } },
      },
    ])
  })

  it('with credentials names the scheme', () => {
    assert.deepEqual(answerWithCredentials('github', 'ghp').parts, [
      { data: { scheme: 'github', credentials: 'ghp' }, metadata: { [credentials]: { type: 'credentials' } } },
    ])
  })

  it('with results has one part per call', () => {
    assert.deepEqual(
      answerWithResults({ u1: { city: 'Rome' }, u2: 3 }).parts.map((part) => 'data' in part && part.data),
      [
        { toolUseId: 'u1', result: { city: 'Rome' } },
        { toolUseId: 'u2', result: 3 },
      ],
    )
  })
})

describe('a secret', () => {
  it('is redacted at any depth, and nothing else is', () => {
    const body = { id: 7, parts: [{ data: { pin: '1234', city: 'Rome' } }, { text: '12345' }] }
    assert.deepEqual(redactSecrets(body, ['1234']), {
      id: 7,
      parts: [{ data: { pin: '(not shown)', city: 'Rome' } }, { text: '12345' }],
    })
    assert.deepEqual(redactSecrets({ a: ['x', 'y'] }, [{ deep: ['x'] }]), { a: ['(not shown)', 'y'] })
    assert.equal(redactSecrets(body, []), body)
  })
})
