import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readSse, type SseFrame } from './sse-wire.ts'

async function framesOf(...chunks: readonly (string | Uint8Array)[]): Promise<readonly SseFrame[]> {
  async function* body(): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) yield typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk
  }
  const frames: SseFrame[] = []
  for await (const frame of readSse(body())) frames.push(frame)
  return frames
}

describe('server-sent events', () => {
  it('end with a blank line, whatever the line break', async () => {
    const frames = await framesOf('data: 1\n\ndata: 2\r\n\r\ndata: 3\r\rdata:4\n\n')
    assert.deepEqual(
      frames.map(({ data, isCut }) => [data, isCut]),
      ['1', '2', '3', '4'].map((data) => [data, false]),
    )
  })

  it('end with an error if they never end', { timeout: 120_000 }, async () => {
    async function* endless(): AsyncGenerator<Uint8Array> {
      const chunk = new Uint8Array(1_000_000).fill(0x61)
      for (;;) yield chunk
    }
    const read = async (): Promise<void> => {
      for await (const _ of readSse(endless()));
    }
    await assert.rejects(read, /exceeds 16777216 bytes/)
  })

  it('are the same if every byte comes alone', async () => {
    const bytes = new TextEncoder().encode('id: 7\r\nevent: x\r\ndata: grüße\r\ndata: 2\r\n\r\n: beat\n\ndata: 3\n\n')
    const frames = await framesOf(...[...bytes].map((byte) => Uint8Array.of(byte)))
    assert.deepEqual(
      frames.map(({ id, event, data }) => [id, event, data]),
      [
        ['7', 'x', 'grüße\n2'],
        [undefined, undefined, '3'],
      ],
    )
  })

  it('have frames without data, and none for comments alone', async () => {
    const frames = await framesOf(': hello\n\nretry: 5\n\n')
    assert.deepEqual(
      frames.map(({ data, raw }) => [data, raw]),
      [[undefined, 'retry: 5']],
    )
  })

  it('mark a frame that the end of the connection cut', async () => {
    const frames = await framesOf('data: 1\n\ndata: {"ha')
    assert.deepEqual(
      frames.map(({ data, isCut }) => [data, isCut]),
      [
        ['1', false],
        ['{"ha', true],
      ],
    )
  })
})
