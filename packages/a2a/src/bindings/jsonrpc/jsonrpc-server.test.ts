import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Envelope, type MalformedEnvelope, readEnvelope } from './jsonrpc-server.ts'
import { parseJson } from '../json-body.ts'

const read = (text: string): Envelope | MalformedEnvelope => readEnvelope(parseJson(text))
const valid = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 't1' } }
const refusal = (text: string): { code: string; id: string } => {
  const answer = read(text)
  assert.ok('error' in answer, text)
  return { code: answer.error.code, id: answer.id }
}

describe('a JSON-RPC envelope', () => {
  it('has id, method and params', () => {
    assert.deepEqual(read(JSON.stringify(valid)), { id: '1', method: 'GetTask', params: { id: 't1' } })
  })

  it('echoes any string or finite number unchanged, including zero and fractions [F-1 F-2]', () => {
    for (const id of ['0', '-7', '1.5', '"a"', '""', '"quote \\" and \\u2028"', 'null', '12345678901234567890']) {
      const answer = read(`{"jsonrpc":"2.0","id":${id},"method":"GetTask"}`)
      assert.equal(JSON.stringify(JSON.parse(answer.id)), JSON.stringify(JSON.parse(id)))
    }
    // More digits than a double holds: the text itself is returned.
    assert.equal(read('{"jsonrpc":"2.0","id":1763234234234234567,"method":"GetTask"}').id, '1763234234234234567')
    assert.equal(read('{"params":{"id":5},"method":"x","id":9007199254740993,"jsonrpc":"2.0"}').id, '9007199254740993')
    const carried = '{"jsonrpc":"2.0","id":2.5,"method":"y"}'
    assert.equal(read(`{"jsonrpc":"2.0","id":1.5,"method":"x","params":{"a":${carried}}}`).id, '1.5')
  })

  it('refuses ids of other types with -32600 and a null id, and marks a request without one [F-2 B-36]', () => {
    for (const id of ['true', '{}', '[]', '1e400']) {
      assert.deepEqual(refusal(`{"jsonrpc":"2.0","id":${id},"method":"GetTask"}`), {
        code: 'INVALID_REQUEST',
        id: 'null',
      })
    }
    const unmarked = { id: 'null', method: 'GetTask', params: {} }
    assert.deepEqual(read('{"jsonrpc":"2.0","method":"GetTask"}'), { ...unmarked, isNotification: true })
    assert.deepEqual(read('{"jsonrpc":"2.0","id":null,"method":"GetTask"}'), unmarked)
  })

  it('refuses batches and bare values with -32600 [F-2]', () => {
    for (const text of ['[]', JSON.stringify([valid]), '5', '"x"', 'null']) {
      assert.deepEqual(refusal(text), { code: 'INVALID_REQUEST', id: 'null' })
    }
  })

  it('refuses another jsonrpc and a missing or invalid method with -32600 and the id [B-36]', () => {
    for (const change of [
      { jsonrpc: '1.0' },
      { jsonrpc: 2 },
      { jsonrpc: undefined },
      { method: undefined },
      { method: 5 },
      { method: '' },
    ]) {
      assert.deepEqual(refusal(JSON.stringify({ ...valid, ...change })), { code: 'INVALID_REQUEST', id: '1' })
    }
  })

  it('refuses params that are not an object with -32602, and reads missing ones as empty [B-40]', () => {
    for (const params of [[], [1], 'x', 5, true]) {
      assert.deepEqual(refusal(JSON.stringify({ ...valid, params })), { code: 'INVALID_PARAMS', id: '1' })
    }
    for (const params of [undefined, null, {}]) {
      assert.deepEqual(read(JSON.stringify({ ...valid, params })), { id: '1', method: 'GetTask', params: {} })
    }
  })
})

describe('a JSON body', () => {
  it('that does not parse is a PARSE_ERROR that does not quote it [B-35]', () => {
    for (const text of ['{"secret":', 'undefined', "{'a':1}", '\u0000']) {
      assert.throws(() => parseJson(text), { code: 'PARSE_ERROR', message: 'Invalid JSON payload' })
    }
  })

  it('with too much nesting is refused without recursion, under the id of the request [B-41 F-1]', () => {
    const request = (levels: number): string =>
      `{"jsonrpc":"2.0","id":1.5,"method":"x","params":{"a":${'['.repeat(levels)}${']'.repeat(levels)}}}`
    const refused = read(request(50_000))
    assert.equal(refused.id, '1.5')
    assert.equal('error' in refused && refused.error.code, 'INVALID_PARAMS')
    assert.ok('params' in read(request(150)))
  })
})
