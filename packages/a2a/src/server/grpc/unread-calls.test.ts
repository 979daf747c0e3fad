import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { describe, it } from 'node:test'
import type { ServerWritableStream } from '@grpc/grpc-js'
import { encodeFrames } from '../../bindings/grpc/codec.ts'
import { createUnsentBytes } from '../streaming/reader-limits.ts'
import { writeFrames } from './unread-calls.ts'

type StreamCall = ServerWritableStream<Uint8Array, Uint8Array>

const stallOptions = { stallMs: 60_000, stalled: () => {} }
const frames = encodeFrames('lf.a2a.v1.StreamResponse', 3, (index) => ({ task: { id: `task-${index}` } }), 1_000_000)
const openAccount = () => createUnsentBytes({ unsentBytes: 1_000_000, unsentBytesPerCaller: 1_000_000 }).open('a')

class FakeStream extends EventEmitter {
  destroyed = false
  writableEnded = false
  readonly written: Uint8Array[] = []
  isFull = false
  done: ((error?: Error) => void) | undefined

  destroy(): void {
    this.destroyed = true
    this.emit('close')
  }

  write(bytes: Uint8Array, done?: (error?: Error) => void): boolean {
    this.written.push(bytes)
    this.done = done
    return !this.isFull
  }
}

function callOn(stream: FakeStream): StreamCall {
  return Object.assign(new EventEmitter(), { cancelled: false, call: { stream } }) as unknown as StreamCall
}

describe('writing the messages of a gRPC stream', () => {
  it('is one write for all of them, and waits only for a client that is behind', async () => {
    const stream = new FakeStream()
    const call = callOn(stream)
    assert.equal(writeFrames(call, frames.bytes, openAccount(), stallOptions), true)
    stream.isFull = true
    const waiting = writeFrames(call, frames.bytes, openAccount(), stallOptions)
    assert.ok(waiting instanceof Promise)
    stream.emit('drain')
    assert.equal(await waiting, true)
    assert.deepEqual(stream.written, [frames.bytes, frames.bytes])
    assert.deepEqual([stream.listenerCount('drain'), call.listenerCount('cancelled')], [0, 0])
  })

  it('counts a large message until it was taken, once for all clients of a caller', async () => {
    const [one, two] = [new FakeStream(), new FakeStream()]
    const unsent = createUnsentBytes({ unsentBytes: 1_000_000, unsentBytesPerCaller: 1_000_000 })
    const bytes = new Uint8Array(100_000)
    const writes = [one, two].map((stream) => writeFrames(callOn(stream), bytes, unsent.open('a'), stallOptions))
    assert.equal(unsent.unsentBytes, 100_000)
    one.done?.()
    await writes[0]
    assert.equal(unsent.unsentBytes, 100_000)
    two.done?.()
    await writes[1]
    assert.equal(unsent.unsentBytes, 0)
  })

  it('ends when the client disconnects', async () => {
    const stream = new FakeStream()
    stream.isFull = true
    const call = callOn(stream)
    const waiting = writeFrames(call, frames.bytes, openAccount(), stallOptions)
    call.emit('cancelled', 'cancelled')
    assert.equal(await waiting, false)
    assert.equal(stream.listenerCount('drain'), 0)
  })

  it('does not happen after the end of the stream, which is destroyed if its rest is not read', (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const stream = new FakeStream()
    stream.writableEnded = true
    for (const bytes of [frames.bytes, new Uint8Array(100_000)]) {
      assert.equal(writeFrames(callOn(stream), bytes, openAccount(), stallOptions), false)
    }
    assert.deepEqual(stream.written, [])
    assert.equal(stream.destroyed, false)
    t.mock.timers.tick(stallOptions.stallMs)
    assert.equal(stream.destroyed, true)
  })

  it('ends with a write that fails', async () => {
    const stream = new FakeStream()
    const call = callOn(stream)
    const unsent = createUnsentBytes({ unsentBytes: 1_000_000, unsentBytesPerCaller: 1_000_000 })
    const waiting = writeFrames(call, new Uint8Array(100_000), unsent.open('a'), stallOptions)
    stream.done?.(new Error('write after end'))
    assert.equal(await waiting, false)
    assert.deepEqual([stream.destroyed, unsent.unsentBytes, call.listenerCount('cancelled')], [true, 0, 0])
  })

  it('is one write for each if the HTTP/2 stream is not found', async () => {
    const written: Uint8Array[] = []
    const write = (message: Uint8Array, done: () => void): boolean => {
      written.push(message)
      done()
      return true
    }
    const call = Object.assign(new EventEmitter(), { cancelled: false, write }) as unknown as StreamCall
    assert.equal(await writeFrames(call, frames.bytes, openAccount(), stallOptions), true)
    assert.equal(written.length, 3)
    assert.equal(
      written.reduce((sum, { length }) => sum + 5 + length, 0),
      frames.bytes.length,
    )
  })
})
