import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readBody } from './node-body.ts'
import type { NodeRequest } from './node-pair.ts'

/** As a parser leaves it: read to its end. */
function left(body: unknown, headers: NodeRequest['headers'] = {}): NodeRequest {
  return { headers, body, socket: {}, readableEnded: true, destroyed: false, on: () => undefined }
}

describe('a body that somebody has read before us', () => {
  it('is taken as text or as bytes', async () => {
    assert.equal(await readBody(left('größe'), 7), 'größe')
    assert.equal(await readBody(left(new TextEncoder().encode('größe')), 7), 'größe')
  })

  it('is measured in bytes all the same, as it is and as it was declared [B-41]', async () => {
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

/** One whose body comes piece by piece. */
function coming(): { readonly request: NodeRequest; emit(event: string, piece?: Uint8Array): void } {
  const listeners = new Map<string, (piece: Uint8Array) => void>()
  const on: NodeRequest['on'] = (event: string, listener: (piece: never) => void) =>
    listeners.set(event, listener as (piece: Uint8Array) => void)
  return {
    request: { headers: {}, socket: {}, readableEnded: false, destroyed: false, on },
    emit: (event, piece = new Uint8Array()) => listeners.get(event)?.(piece),
  }
}

describe('large bodies that come at one time', () => {
  const limitBytes = 20_000_000
  // The same bytes for all: what counts is how many there are.
  const piece = Buffer.alloc(10_000_000, 'x')
  const whole = Buffer.concat([piece, piece])

  it('are refused beyond 256 MB, and taken again when those before them are gone or have begun', async () => {
    const bodies = Array.from({ length: 13 }, () => {
      const { request, emit } = coming()
      return { emit, read: readBody(request, limitBytes).then((text) => text.length) }
    })
    const [first, second, ...others] = bodies
    for (const { emit } of bodies) emit('data', piece)
    for (const { emit } of bodies.slice(0, -1)) emit('data', piece)
    const [last] = others.slice(-1)
    last?.emit('data', piece)
    await assert.rejects(last?.read ?? Promise.resolve(), { code: 'UNAVAILABLE', message: /send it again later/ })
    // Its bytes count no more, nor do those of a sender who leaves.
    second?.emit('close')
    await assert.rejects(second?.read ?? Promise.resolve(), { code: 'INVALID_REQUEST' })
    const after = coming()
    const read = readBody(after.request, limitBytes)
    after.emit('data', whole)
    after.emit('end')
    first?.emit('end')
    assert.equal((await read).length, whole.length)
    assert.equal(await first?.read, whole.length)
    for (const { emit, read: pending } of others.slice(0, -1)) {
      emit('end')
      assert.equal(await pending, whole.length)
    }
    // All have begun: there is room for as many again.
    const again = Array.from({ length: 12 }, () => {
      const { request, emit } = coming()
      const pending = readBody(request, limitBytes)
      emit('data', whole)
      emit('end')
      return pending
    })
    assert.deepEqual(new Set((await Promise.all(again)).map(({ length }) => length)), new Set([whole.length]))
  })

  it('do not keep small ones out', async () => {
    const waiting = Array.from({ length: 12 }, () => {
      const { request, emit } = coming()
      const pending = readBody(request, limitBytes)
      emit('data', whole)
      return { emit, pending }
    })
    const small = coming()
    const read = readBody(small.request, limitBytes)
    small.emit('data', Buffer.from('{}'))
    small.emit('end')
    assert.equal(await read, '{}')
    for (const { emit, pending } of waiting) {
      emit('close')
      await assert.rejects(pending)
    }
  })

  it('may each be as large as the limit for one, whatever that is', async () => {
    const { request, emit } = coming()
    const pending = readBody(request, 400_000_000)
    for (let sent = 0; sent < 300_000_000; sent += piece.length) emit('data', piece)
    emit('end')
    assert.equal((await pending).length, 300_000_000)
  })
})
