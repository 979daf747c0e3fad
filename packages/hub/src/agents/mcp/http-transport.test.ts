import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { boundedMessages } from './http-transport.ts'

async function through(...chunks: readonly string[]): Promise<string> {
  return bounded(10, chunks)
}

async function bounded(bytes: number, chunks: readonly string[]): Promise<string> {
  const limit = { bytes, nodes: 3, exceeded: (by: string) => new Error(`too many ${by}`) }
  const stream = ReadableStream.from(chunks.map((chunk) => new TextEncoder().encode(chunk)))
  return new Response(stream.pipeThrough(boundedMessages(limit))).text()
}

describe('what a server sends', () => {
  it('may be endless, as long as each message is within its bound', async () => {
    assert.equal(await through('data: 1\n', '\ndata: 2\n\nda', 'ta: 3\n\n'), 'data: 1\n\ndata: 2\n\ndata: 3\n\n')
    assert.equal(await through('data: 1\r\n\r', '\ndata: 2\r\n\r\n'), 'data: 1\r\n\r\ndata: 2\r\n\r\n')
    await assert.rejects(through('data: 1\n\n', 'data: 12345\n\n'), /too many bytes/)
    await assert.rejects(through('{"a":1', '2345}'), /too many bytes/)
  })

  it('holds few values, counted in each message and whatever stands before it', async () => {
    const through = (...chunks: readonly string[]) => bounded(100, chunks)
    assert.equal(await through('[1,2]'), '[1,2]')
    assert.equal(await through('data:[1,2]\n', '\ndata:[3'), 'data:[1,2]\n\ndata:[3')
    await assert.rejects(through('[1,2,', '3]'), /too many nodes/)
    await assert.rejects(through(':"\n', '[1,2,3]'), /too many nodes/)
    await assert.rejects(through(':"\r', '[[],[],', '1'), /too many nodes/)
    assert.equal(await through('[",,', ',,"]'), '[",,,,"]')
  })
})
