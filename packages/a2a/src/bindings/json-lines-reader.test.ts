import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A2AError } from '../model/error.ts'
import { createJsonLinesParser } from './json-lines-reader.ts'

describe('JSON lines', () => {
  it('are split at line ends in any chunks, and the last line needs none', () => {
    const text = '{"a":1}\n\r\n{"b":\t2}\r\n{"c":3}'
    for (let size = 1; size <= text.length; size++) {
      const parser = createJsonLinesParser(100)
      const events = [...text.matchAll(new RegExp(`[^]{1,${size}}`, 'g'))].flatMap(([chunk]) => parser.feed(chunk))
      const seen = [...events, ...parser.end()].map(({ data }) => JSON.parse(data) as unknown)
      assert.deepEqual(seen, [{ a: 1 }, { b: 2 }, { c: 3 }])
    }
  })

  it('have a maximum length', () => {
    const parser = createJsonLinesParser(10)
    assert.equal(parser.feed('12345678\n12345678').length, 1)
    assert.throws(
      () => parser.feed('12345'),
      (error) => error instanceof A2AError && error.code === 'PAYLOAD_TOO_LARGE',
    )
  })
})
