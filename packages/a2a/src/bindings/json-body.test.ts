import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { HttpRequest } from './http.ts'
import { readJson } from './json-body.ts'

function parsed(value: unknown, headers: Record<string, string>): HttpRequest {
  return {
    method: 'POST',
    path: '/',
    query: '',
    header: (name) => headers[name],
    body: () => Promise.reject(new Error('was read before us')),
    parsed: { value },
    signal: new AbortController().signal,
    secure: false,
    prefix: '',
  }
}

describe('a body that a framework has parsed before us', () => {
  const json = { 'content-type': 'application/json' }

  it('is taken as it is', async () => {
    const body = await readJson(parsed({ a: 1 }, { ...json, 'content-length': '7' }), 7)
    assert.deepEqual(body, { value: { a: 1 }, text: undefined, isTooDeep: false })
    assert.deepEqual((await readJson(parsed({ a: 1 }, json), 7))?.value, { a: 1 })
  })

  it('is refused if more was declared than we take, before its type is looked at [B-41]', async () => {
    await assert.rejects(readJson(parsed({}, { ...json, 'content-length': '8' }), 7), { code: 'PAYLOAD_TOO_LARGE' })
    await assert.rejects(readJson(parsed({}, { 'content-length': '8' }), 7), { code: 'PAYLOAD_TOO_LARGE' })
    await assert.rejects(readJson(parsed({}, {}), 7), { code: 'UNSUPPORTED_MEDIA_TYPE' })
  })
})
