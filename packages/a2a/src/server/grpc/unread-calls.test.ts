import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { describe, it } from 'node:test'
import type { ServerWritableStream } from '@grpc/grpc-js'
import { encodeFrames } from '../../bindings/grpc/codec.ts'
import { createUnsentBytes } from '../streaming/unsent-bytes.ts'
import { writeFrames } from './unread-calls.ts'

type StreamCall = ServerWritableStream<Uint8Array, Uint8Array>

const stallOptions = { stallMs: 60_000, stalled: () => {} }
const frames = encodeFrames('lf.a2a.v1.StreamResponse', 3, (index) => ({ task: { id: `task-${index}` } }), 1_000_000)
const openAccount = () => createUnsentBytes({ unsentBytes: 1_000_000, unsentBytesPerCaller: 1_000_000 }).open('a')

class FakeStream extends EventEmitter {
  readonly destroyed = false
  readonly written: Uint8Array[] = []
  isFull = false
  done: (() => void) | undefined

  write(bytes: Uint8Array, done?: () => void): boolean {
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
    assert.equal(writeFrames(call, frames.bytes, openAccount(), stallOptions), undefined)
    stream.isFull = true
    const waiting = writeFrames(call, frames.bytes, openAccount(), stallOptions)
    assert.ok(waiting instanceof Promise)
    stream.emit('drain')
    await waiting
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
    call.emit('cancelled')
    await waiting
    assert.equal(stream.listenerCount('drain'), 0)
  })

  it('is one write for each if the HTTP/2 stream is not found', async () => {
    const written: Uint8Array[] = []
    const write = (message: Uint8Array, done: () => void): boolean => {
      written.push(message)
      done()
      return true
    }
    const call = Object.assign(new EventEmitter(), { cancelled: false, write }) as unknown as StreamCall
    await writeFrames(call, frames.bytes, openAccount(), stallOptions)
    assert.equal(written.length, 3)
    assert.equal(
      written.reduce((sum, { length }) => sum + 5 + length, 0),
      frames.bytes.length,
    )
  })
})
