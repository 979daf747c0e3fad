import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRedactor } from './redact.ts'

describe('diagnostic text', () => {
  it('has no registered secret, in any usual encoding', () => {
    const redactor = createRedactor()
    redactor.add('s3cr&t "x"')
    const spellings = ['s3cr&t "x"', encodeURIComponent('s3cr&t "x"'), 's3cr&t \\"x\\"', btoa('s3cr&t "x"')]
    for (const spelling of spellings) assert.equal(redactor.apply(`a ${spelling} b`), 'a [redacted] b')
  })

  it('hides the longer secret where one contains another', () => {
    const redactor = createRedactor()
    redactor.add('token')
    redactor.add('token-of-ada')
    assert.equal(redactor.apply('token-of-ada'), '[redacted]')
  })

  it('has no credential by its shape either', () => {
    const { apply } = createRedactor()
    const cases: readonly (readonly [string, string])[] = [
      ['Authorization: Bearer abc.def', 'Authorization: [redacted]'],
      ['> cookie: a=b; c=d', '> cookie: [redacted]'],
      ['rejected "Bearer abc123"', 'rejected "Bearer [redacted]"'],
      ['grant_type=x&client_secret=abc&scope=y', 'grant_type=x&client_secret=[redacted]&scope=y'],
      ['{"access_token": "abc", "expires_in": 5}', '{"access_token": "[redacted]", "expires_in": 5}'],
      ['https://ada:pass@host/x', 'https://ada:[redacted]@host/x'],
      ['https://host/x?api_key=abc&y=1', 'https://host/x?api_key=[redacted]&y=1'],
    ]
    for (const [text, safe] of cases) assert.equal(apply(text), safe)
  })

  it('keeps ordinary text, and short values that are words', () => {
    const redactor = createRedactor()
    redactor.add('1')
    const text = 'task 1 of 11 at https://host:8080/a?b=c@d: the bearer of the basic plan'
    assert.equal(redactor.apply('step 1'), 'step 1')
    assert.equal(redactor.apply('GET https://host:8080/a?b=c'), 'GET https://host:8080/a?b=c')
    assert.ok(redactor.apply(text).startsWith('task 1 of 11 at https://host:8080/a'))
  })

  it('takes linear time, whatever an agent writes', () => {
    const before = process.threadCpuUsage()
    createRedactor().apply('a.'.repeat(100_000))
    assert.ok(process.threadCpuUsage(before).user < 2_000_000)
  })

  it('knows whether a credential was used: a service parameter is none', () => {
    const redactor = createRedactor()
    redactor.add('parameter-value', false)
    assert.equal(redactor.hasSecrets, false)
    assert.equal(redactor.apply('parameter-value'), '[redacted]')
    redactor.add('token')
    assert.equal(redactor.hasSecrets, true)
  })
})
