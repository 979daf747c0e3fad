import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eventsIn } from './http-run.ts'

async function read(...pieces: readonly string[]): Promise<readonly string[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece))
      controller.close()
    },
  })
  return Array.fromAsync(eventsIn(body))
}

describe('server-sent events of the gateway', () => {
  it('are read wherever the pieces are cut', async () => {
    assert.deepEqual(await read('da', 'ta: {"a"', ':1}\n', '\ndata: [DO', 'NE]\n\n'), ['{"a":1}', '[DONE]'])
  })

  it('may end their lines with CRLF, have many lines, and comments between', async () => {
    assert.deepEqual(await read(': alive\r\n\r\nevent: x\r\ndata: one\r\ndata:two\r\n\r\n'), ['one\ntwo'])
  })

  it('count only when they are complete', async () => {
    assert.deepEqual(await read('data: whole\n\ndata: half\n'), ['whole'])
  })

  it('are none without a body', async () => {
    assert.deepEqual(await Array.fromAsync(eventsIn(null)), [])
  })
})
