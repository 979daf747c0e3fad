import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseFrame, contentText } from './frames.ts'

describe('a frame', () => {
  it('is an event or an answer', () => {
    assert.deepEqual(parseFrame('{"type":"event","event":"tick","payload":{"ts":1},"seq":3,"new":1}'), {
      event: { event: 'tick', payload: { ts: 1 }, seq: 3 },
    })
    assert.deepEqual(parseFrame('{"type":"res","id":"1","ok":true,"payload":[1]}'), {
      id: '1',
      answer: { ok: true, payload: { list: [1] } },
    })
  })

  it('may refuse, with whatever it says of the reason', () => {
    assert.deepEqual(parseFrame('{"type":"res","id":"1","ok":false,"error":{"code":"UNAVAILABLE","retryAfterMs":5}}'), {
      id: '1',
      answer: {
        ok: false,
        payload: {},
        error: { code: 'UNAVAILABLE', message: 'no reason given', details: {}, retryable: true, retryAfterMs: 5 },
      },
    })
    const bare = parseFrame('{"type":"res","id":"1"}')
    assert.ok(bare !== undefined && 'answer' in bare && !bare.answer.ok)
  })

  it('is nothing otherwise', () => {
    for (const text of ['', 'hello', 'null', '[]', '{"type":"req","id":"1"}', '{"type":"event"}', '{"type":"res"}']) {
      assert.equal(parseFrame(text), undefined)
    }
  })

  it('carries texts as strings or as blocks', () => {
    assert.equal(contentText('a'), 'a')
    assert.equal(contentText([{ type: 'text', text: 'a' }, { type: 'toolCall' }, { type: 'text', text: 'b' }]), 'ab')
    assert.equal(contentText({ type: 'text' }), '')
  })
})
