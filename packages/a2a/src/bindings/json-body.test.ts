import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { HttpRequest } from './http.ts'
import { parseJson, readJson } from './json-body.ts'

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

const limits = { bodyBytes: 7, jsonNodes: 3 }

function sent(text: string): HttpRequest {
  const { parsed: _none, ...request } = parsed(undefined, { 'content-type': 'application/json' })
  return { ...request, body: async () => text }
}

describe('a large body', () => {
  const large = { bodyBytes: 20_000_000, jsonNodes: 1_000 }
  const long = 'x'.repeat(2_000_000)

  it('is read like a small one', async () => {
    const text = JSON.stringify({ id: 1, params: { text: `${long}\ud800`, list: [[[1, 2], 3], null] } })
    assert.deepEqual(await readJson(sent(text), large), parseJson(text))
    const deep = `{"text":"${long}","deep":${'['.repeat(300)}${']'.repeat(300)}}`
    assert.equal((await readJson(sent(deep), large))?.isTooDeep, true)
  })

  it('is refused like a small one', async () => {
    const many = JSON.stringify({ text: long, list: Array.from({ length: 1_000 }, () => 1) })
    const refusal = { code: 'PAYLOAD_TOO_LARGE', message: 'The body holds more than 1000 JSON values' }
    await assert.rejects(readJson(sent(many), large), refusal)
    const cut = JSON.stringify({ text: long }).slice(0, -1)
    await assert.rejects(readJson(sent(cut), large), { code: 'PARSE_ERROR', message: 'Invalid JSON payload' })
  })

  it('is read in turn with those of other callers', async () => {
    const ended: string[] = []
    const read = (callerKey: string): Promise<unknown> =>
      readJson(sent(JSON.stringify({ text: long })), large, { callerKey }).then(() => ended.push(callerKey))
    await Promise.all(['a', 'a', 'a', 'b'].map(read))
    // The first of a, or the one of b: they take turns.
    assert.ok(ended.indexOf('b') < 2, ended.join())
  })
})

describe('a body that a framework has already parsed', () => {
  const json = { 'content-type': 'application/json' }

  it('is used unchanged', async () => {
    const body = await readJson(parsed({ a: 1 }, { ...json, 'content-length': '7' }), limits)
    assert.deepEqual(body, { value: { a: 1 }, text: undefined, isTooDeep: false })
    assert.deepEqual((await readJson(parsed({ a: 1 }, json), limits))?.value, { a: 1 })
  })

  it('is refused if its declared length exceeds the limit, before its type is checked [B-41]', async () => {
    await assert.rejects(readJson(parsed({}, { ...json, 'content-length': '8' }), limits), {
      code: 'PAYLOAD_TOO_LARGE',
    })
    await assert.rejects(readJson(parsed({}, { 'content-length': '8' }), limits), { code: 'PAYLOAD_TOO_LARGE' })
    await assert.rejects(readJson(parsed({}, {}), limits), { code: 'UNSUPPORTED_MEDIA_TYPE' })
  })
  it('is refused if it has more values than the limit', async () => {
    assert.deepEqual((await readJson(parsed([1, 2], json), limits))?.value, [1, 2])
    const refusal = { code: 'PAYLOAD_TOO_LARGE', message: 'The body holds more than 3 JSON values' }
    await assert.rejects(readJson(parsed([1, 2, 3], json), limits), refusal)
    await assert.rejects(readJson(parsed({ a: { b: { c: {} } } }, json), limits), refusal)
  })
})

describe('the text of a body', () => {
  it('is refused before it is parsed if it has more values than the limit', () => {
    const items = (count: number): string => `[${Array.from({ length: count }, () => '0').join(',')}]`
    assert.equal((parseJson(items(99_999)).value as unknown[]).length, 99_999)
    // The text is invalid JSON, but the count comes first and stops at the limit.
    const refusal = { code: 'PAYLOAD_TOO_LARGE', message: 'The body holds more than 100000 JSON values' }
    assert.throws(() => parseJson(`${items(100_000).slice(0, -1)} no JSON from here on`), refusal)
    assert.throws(() => parseJson(items(100_000)), refusal)
    assert.throws(() => parseJson('[1,2', 1), { ...refusal, message: 'The body holds more than 1 JSON values' })
  })

  it('may have up to 200 levels, and more are refused', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
    assert.equal(parseJson(nested(200)).isTooDeep, false)
    assert.equal(parseJson(nested(201)).isTooDeep, true)
    assert.equal(parseJson(`{"a":"${'['.repeat(500)}"}`).isTooDeep, false)
    assert.equal(parseJson(nested(99_999)).isTooDeep, true)
  })

  it('has keys that do not set a prototype', () => {
    const { value } = parseJson('{"__proto__":{"admin":true},"id":1}')
    assert.equal((value as { admin?: unknown }).admin, undefined)
  })

  it('has lone surrogates replaced, which UTF-8 cannot carry, except in the id that is echoed [F-2]', () => {
    const { value } = parseJson(String.raw`{"id":"\ud800","params":{"a\udc00":["\ud800x","\ud83d\ude00"]}}`)
    assert.deepEqual(value, { id: '\ud800', params: { 'a\ufffd': ['\ufffdx', '😀'] } })
  })
})
