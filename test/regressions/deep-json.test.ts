/**
 * Guards against: nesting that overflows the stack of a server, and keys that pollute
 * object prototypes. 5,000 levels are 60 kB of JSON; the server rejects them quickly.
 */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { testAgent } from '@parley/a2a/testing'
import { newMessage, nameOf, post, sendRequest, requestFormats } from './protocol-requests.ts'
import type { RequestFormat } from './protocol-requests.ts'

const arrays = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
const objects = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

const agent = testAgent(async function* ({ message }) {
  for (const part of message.parts) yield part
})
after(() => agent.close())

function dataPart({ version, binding }: RequestFormat): unknown {
  if (version === '1.0') return { data: { deep: '~' } }
  return binding === 'JSONRPC' ? { kind: 'data', data: { deep: '~' } } : { data: { data: { deep: '~' } } }
}

describe('a deeply nested body', () => {
  for (const way of requestFormats) {
    const partsKey = way.version !== '1.0' && way.binding === 'HTTP+JSON' ? 'content' : 'parts'
    const places = (): Record<string, Record<string, unknown>> => ({
      metadata: { ...newMessage(way, 'x'), metadata: { deep: '~' } },
      'the metadata of a part': {
        ...newMessage(way, 'x'),
        [partsKey]: [{ ...(dataPart(way) as object), metadata: { deep: '~' } }],
      },
      data: { ...newMessage(way, 'x'), [partsKey]: [dataPart(way)] },
      'an unknown field': { ...newMessage(way, 'x'), unheard: '~' },
      'a field of another kind': { ...newMessage(way, 'x'), contextId: '~' },
    })
    for (const place of Object.keys(places())) {
      it(`in ${place} is rejected at once, in ${nameOf(way)} [B-41]`, async () => {
        // More values than `limits.jsonNodes` give another error. One position nests twice.
        for (const levels of [5_000, 40_000]) {
          for (const deep of [arrays(levels), objects(levels)]) {
            const { path, body, headers } = sendRequest(way, places()[place])
            const { text, json } = await post(agent, path, body.replaceAll('"~"', deep), headers)
            const error = way.binding === 'JSONRPC' || way.version === '1.0' ? json.error : json
            assert.equal(error.code, way.binding === 'HTTP+JSON' && way.version === '1.0' ? 400 : -32602, text)
            assert.match(text, /nested/)
            if (way.binding === 'JSONRPC') assert.equal(json.id, 1)
          }
        }
      })
    }

    it(`within the limit arrives and returns, in ${nameOf(way)}`, async () => {
      const { path, body, headers } = sendRequest(way, places()['data'])
      const { text } = await post(agent, path, body.replaceAll('"~"', objects(25)), headers)
      assert.match(text, /completed/i)
      assert.ok(text.split(objects(25)).length >= 3, 'it came back otherwise')
    })
  }

  it('is rejected whatever it holds, because the whole body nests too [B-35 B-41]', async () => {
    for (const body of [arrays(5_000), objects(5_000), arrays(100_000)]) {
      const { json } = await post(agent, '/', body, { 'a2a-version': '1.0' })
      assert.ok(json.error.code === -32600 || json.error.code === -32602)
    }
  })
})

describe('a key that exists on every object', () => {
  for (const way of requestFormats) {
    it(`is an ordinary key, in ${nameOf(way)}`, async () => {
      const { path, body, headers } = sendRequest(way, {
        ...newMessage(way, 'x'),
        metadata: { '~': { polluted: true } },
      })
      for (const key of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']) {
        const unique = body.replace(/"messageId":"[^"]+"/, `"messageId":"${crypto.randomUUID()}"`)
        const { text, status } = await post(agent, path, unique.replace('"~"', `"${key}"`), headers)
        assert.equal(status, 200)
        assert.match(text, /completed/i)
        assert.ok(text.includes(`"${key}":{"polluted":true}`), `${key} was lost: ${text}`)
        assert.equal(Reflect.get({}, 'polluted'), undefined)
        assert.equal(Reflect.get(Object, 'polluted'), undefined)
      }
    })
  }
})
