import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { validatePushConfig } from './validate-push-config.ts'

const fine = {
  url: 'https://hooks.example.com/a',
  id: 'h',
  token: 't',
  authentication: { scheme: 'Bearer', credentials: 'c' },
}
const fieldsOf = (config: object): string[] =>
  validatePushConfig({ ...fine, ...config }, 'at.', ({ port }) =>
    port === '22' ? 'must not be at port 22' : undefined,
  ).map(({ field }) => field)

describe('a webhook config', () => {
  it('that is valid is accepted', () => {
    assert.deepEqual(fieldsOf({}), [])
    assert.deepEqual(fieldsOf({ authentication: { scheme: 'Bearer' }, token: '', id: '' }), [])
  })

  it('has an http(s) address without a password, which the server may call [B-129]', () => {
    const urls = [
      '/hook',
      'ftp://x.example/',
      'file:///etc/passwd',
      'javascript:alert(1)',
      'https://me:pw@x.example/',
      '',
    ]
    for (const url of [...urls, 'https://x.example:22/', `https://x.example/${'a'.repeat(3_000)}`]) {
      assert.deepEqual(fieldsOf({ url }), ['at.url'], url)
    }
  })

  it('has secrets that fit a header, and cannot add one [B-130]', () => {
    for (const odd of ['a\r\nX-Evil: 1', 'a\nb', 'a\u0000b', 'ü', 'x'.repeat(9_000)]) {
      assert.deepEqual(fieldsOf({ token: odd }), ['at.token'])
      assert.deepEqual(fieldsOf({ authentication: { scheme: 'Bearer', credentials: odd } }), [
        'at.authentication.credentials',
      ])
      assert.deepEqual(fieldsOf({ authentication: { scheme: odd } }), ['at.authentication.scheme'])
      assert.deepEqual(fieldsOf({ id: odd }), ['at.id'])
    }
    assert.deepEqual(fieldsOf({ authentication: { scheme: 'Bear er' } }), ['at.authentication.scheme'])
  })
})
