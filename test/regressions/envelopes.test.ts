/**
 * Guards against: invalid JSON-RPC envelopes with the wrong error code, and
 * ids that are not returned as sent. A client that waits for an id waits
 * forever if it gets another.
 */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { testAgent } from '@parley/a2a/testing'
import type { HttpAnswer } from './protocol-requests.ts'
import { post } from './protocol-requests.ts'

const agent = testAgent(({ text }) => text)
after(() => agent.close())

const versions = [undefined, '0.2', '0.3', '1.0'] as const
const ask = (body: string, version?: string): Promise<HttpAnswer> =>
  post(agent, '/', body, version === undefined ? {} : { 'a2a-version': version })
const call = (id: string, version: string | undefined): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"${version === '1.0' ? 'GetTask' : 'tasks/get'}","params":{"id":"unknown"}}`

describe('a JSON-RPC envelope', () => {
  for (const version of versions) {
    const name = version ?? 'no version'

    it(`that is invalid gives -32600, under its id if it has one, with ${name} [B-36 F-2]`, async () => {
      const broken: [body: string, id: unknown][] = [
        ['[]', null],
        [`[${call('1', version)}]`, null],
        [`[${call('1', version)},${call('2', version)}]`, null],
        ['{}', null],
        ['{"id":1}', 1],
        ['{"jsonrpc":"2.0","id":1}', 1],
        ['{"jsonrpc":"2.0","id":"a","method":5}', 'a'],
        ['{"jsonrpc":"2.0","id":0,"method":""}', 0],
        ['{"jsonrpc":"1.0","id":0,"method":"GetTask"}', 0],
        ['{"jsonrpc":2,"id":0,"method":"GetTask"}', 0],
        ['{"id":0,"method":"GetTask"}', 0],
        ['{"jsonrpc":"2.0","id":{},"method":"GetTask"}', null],
        ['{"jsonrpc":"2.0","id":[1],"method":"GetTask"}', null],
        ['{"jsonrpc":"2.0","id":true,"method":"GetTask"}', null],
        // A2A has no notifications: a request without an id is an error.
        [call('1', version).replace('"id":1,', ''), null],
      ]
      for (const [body, id] of broken) {
        const { status, json } = await ask(body, version)
        assert.deepEqual([status, json.error.code, json.id], [200, -32600, id], body)
        assert.deepEqual(Object.keys(json).sort(), ['error', 'id', 'jsonrpc'])
      }
    })

    it(`gets its id back unchanged, with ${name} [F-1]`, async () => {
      for (const id of [
        '0',
        '-0',
        '1',
        '-7',
        '1.5',
        '0.1',
        '1e2',
        '"a"',
        '""',
        '"\\ud83d\\ude00"',
        '"\\u2028"',
        'null',
        '9007199254740993',
      ]) {
        const { json, text } = await ask(call(id, version), version)
        assert.equal(json.error.code, -32001, id)
        assert.equal(json.id, JSON.parse(id) === 0 ? 0 : JSON.parse(id), id)
        if (id.length > 15) assert.ok(text.includes(id), 'the digits were rounded')
      }
    })

    it(`with an unknown method gives -32601, with ${name} [B-37]`, async () => {
      for (const method of [
        'Nothing',
        'tasks/list',
        'tasks/send',
        'constructor',
        '__proto__',
        'toString',
        ' GetTask',
      ]) {
        const { json } = await ask(`{"jsonrpc":"2.0","id":0,"method":"${method}"}`, version)
        assert.deepEqual([json.error.code, json.id], [-32601, 0], method)
      }
    })

    it(`with params that are not an object gives -32602, with ${name} [B-40]`, async () => {
      for (const params of ['5', '"x"', '[]', '[{}]', 'true']) {
        const body = call('0', version).replace('{"id":"unknown"}', params)
        const { json } = await ask(body, version)
        assert.deepEqual([json.error.code, json.id], [-32602, 0], params)
      }
    })

    it(`that is not JSON gives -32700 under a null id, with ${name} [B-35]`, async () => {
      for (const body of ['{', '{"jsonrpc":"2.0","id":1', 'hello', '{"a":1}{"b":2}', "{'a':1}", '\u0000', '\ufffe']) {
        const { json } = await ask(body, version)
        assert.deepEqual([json.error.code, json.id], [-32700, null], body)
      }
    })
  }

  it('may reuse an id [B-42]', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { json } = await ask(call('1', '1.0'), '1.0')
      assert.deepEqual([json.error.code, json.id], [-32001, 1])
    }
  })
})
