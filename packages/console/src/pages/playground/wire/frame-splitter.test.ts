import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createFrameSplitter } from './frame-splitter.ts'

const stream = ': hello\n\nid: 1\ndata: {"a":1}\n\n:\n\nid: 2\r\ndata: b\r\n\r\n'

describe('the frames of a stream', () => {
  it('are the same wherever it is cut', () => {
    for (let at = 0; at <= stream.length; at += 1) {
      const { take } = createFrameSplitter()
      const frames = [...take(stream.slice(0, at)), ...take(stream.slice(at))]
      assert.deepEqual(frames, [': hello', 'id: 1\ndata: {"a":1}', ':', 'id: 2\ndata: b'], `cut at ${at}`)
    }
  })

  it('keep what came of one that was cut off', () => {
    const { take, rest } = createFrameSplitter()
    assert.deepEqual(take('id: 1\ndata: {"a"'), [])
    assert.equal(rest(), 'id: 1\ndata: {"a"')
  })
})
