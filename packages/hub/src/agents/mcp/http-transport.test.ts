import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { boundedMessages } from './http-transport.ts'

async function through(...chunks: readonly string[]): Promise<string> {
  const limit = { bytes: 10, exceeded: () => new Error('too large') }
  const stream = ReadableStream.from(chunks.map((chunk) => new TextEncoder().encode(chunk)))
  return new Response(stream.pipeThrough(boundedMessages(limit))).text()
}

describe('what a server sends', () => {
  it('may be endless, as long as each message is within its bound', async () => {
    assert.equal(await through('data: 1\n', '\ndata: 2\n\nda', 'ta: 3\n\n'), 'data: 1\n\ndata: 2\n\ndata: 3\n\n')
    assert.equal(await through('data: 1\r\n\r', '\ndata: 2\r\n\r\n'), 'data: 1\r\n\r\ndata: 2\r\n\r\n')
    await assert.rejects(through('data: 1\n\n', 'data: 12345\n\n'), /too large/)
    await assert.rejects(through('{"a":1', '2345}'), /too large/)
  })
})
