import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { credentialsExtension, type Json, type Message } from '@parley/a2a'
import { questionLines, replyArguments } from './question.ts'

const ask = (data: Json): Message => ({ messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'Which?' }, { data }] })
const schema = (properties: Json): Json => ({ requestedSchema: { type: 'object', properties } })

describe('the form of a question', () => {
  it('adds only the fields and choices that the text leaves out', () => {
    const size = {
      type: 'string',
      oneOf: [
        { const: 's', title: 'Small' },
        { const: 'l', title: 'Large' },
      ],
    }
    const part = { data: schema({ size }) }
    assert.deepEqual(questionLines(part, 'Small or Large?'), [])
    assert.deepEqual(questionLines(part, 'Which size?'), ['- size (optional) [s | l]'])
    assert.deepEqual(questionLines({ data: { type: 'object', properties: { size } } }, 'Small or Large?'), [])
  })

  it('keeps what else the data says, and leaves other data alone', () => {
    const data = { invoice: { total: 5 }, ...(schema({ ok: { type: 'boolean' } }) as object) }
    assert.deepEqual(questionLines({ data }, 'Pay?'), ['invoice: {"total":5}', '- ok (optional)'])
    for (const other of [{ a: 1 }, [1], null, 'x'] as Json[])
      assert.equal(questionLines({ data: other }, ''), undefined)
    assert.equal(questionLines({ text: 'x' }, 'x'), undefined)
  })

  it('may be anything that an agent writes', () => {
    const odd: Json[] = [schema(5), schema({ a: true }), schema({ a: { oneOf: 3, enum: 'x', items: 1 } })]
    for (const data of odd) assert.ok(questionLines({ data }, '') !== undefined)
    const metadata = { [credentialsExtension]: { type: 'auth-request' } }
    const securitySchemes = {
      a: 1,
      b: { oauth2SecurityScheme: {} },
      c: { httpAuthSecurityScheme: { scheme: 'Basic' } },
    }
    const part = { data: { securitySchemes }, metadata }
    assert.deepEqual(questionLines(part, ''), ['Sign in with a, or b, or c (HTTP Basic)'])
    assert.deepEqual(questionLines({ data: { securitySchemes: [] }, metadata }, ''), [])
  })
})

describe('the arguments that answer a question', () => {
  it('are a text, or data for several fields, safe for a shell', () => {
    assert.equal(replyArguments(undefined), '"<reply>"')
    assert.equal(replyArguments(ask(schema({ city: {} }))), '"<reply>"')
    assert.equal(
      replyArguments(ask(schema({ a: {}, "b'$(x)": {} }))),
      `--data '{"a":"<a>","b'\\''$(x)":"<b'\\''$(x)>"}'`,
    )
  })
})
