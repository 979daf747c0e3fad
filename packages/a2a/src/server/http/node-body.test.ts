import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readBody } from './node-body.ts'
import type { NodeRequest } from './node-http-types.ts'

/** As a parser leaves it: read to its end. */
function left(body: unknown, headers: NodeRequest['headers'] = {}): NodeRequest {
  return { headers, body, socket: {}, readableEnded: true, destroyed: false, on: () => undefined }
}

describe('a body that other code has read', () => {
  it('is accepted as text or as bytes', async () => {
    assert.equal(await readBody(left('größe'), 7), 'größe')
    assert.equal(await readBody(left(new TextEncoder().encode('größe')), 7), 'größe')
  })

  it('is measured in bytes, by its size and its declared length [B-41]', async () => {
    const bytes = new TextEncoder().encode('größe')
    for (const request of [
      left('größe'),
      left(bytes),
      left('x', { 'content-length': '7' }),
      left(bytes.subarray(0, 1), { 'content-length': '7' }),
      left('größe', { 'content-length': 'many' }),
    ]) {
      await assert.rejects(readBody(request, 6), { code: 'PAYLOAD_TOO_LARGE' })
    }
  })
})

/** A body from a socket; the test sends each piece. */
function coming() {
  const listeners = new Map<string, (chunk?: Uint8Array) => void>()
  const on = (event: string, listener: (chunk?: Uint8Array) => void): void => void listeners.set(event, listener)
  const request = { headers: {}, socket: {}, readableEnded: false, destroyed: false, on } as unknown as NodeRequest
  const text = readBody(request, 20_000_000)
  text.catch(() => {})
  return {
    text,
    send: (bytes: Uint8Array) => listeners.get('data')?.(bytes),
    end: () => listeners.get('end')?.(),
    leave: () => listeners.get('close')?.(),
  }
}

describe('bodies that stall', () => {
  it('have a common limit: the longest waiting one is dropped, and the others arrive', async () => {
    const megabyte = Buffer.alloc(1_000_000, 'x')
    const stalled = Array.from({ length: 26 }, coming)
    for (const body of stalled) for (let count = 0; count < 19; count += 1) body.send(megabyte)
    // 494 MB so far.
    const last = coming()
    for (let count = 0; count < 18; count += 1) last.send(megabyte)
    stalled[0]?.send(Buffer.from('y'))
    last.send(megabyte)
    await assert.rejects(stalled[1]?.text ?? Promise.resolve(), { code: 'UNAVAILABLE' })
    last.end()
    assert.equal((await last.text).length, 19_000_000)
    stalled[0]?.end()
    assert.equal((await stalled[0]?.text)?.length, 19_000_001)
    // Disconnected senders no longer count: as much again fits.
    for (const body of stalled) body.leave()
    const again = Array.from({ length: 26 }, coming)
    for (const body of again) for (let count = 0; count < 19; count += 1) body.send(megabyte)
    again[0]?.end()
    assert.equal((await again[0]?.text)?.length, 19_000_000)
    for (const body of again) body.leave()
  })
})
