import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Framing } from '../../bindings/protocol-binding.ts'
import { type Chunk, keepAlive } from '../../bindings/http.ts'
import type { TaskEventStream, StreamItem } from '../../engine/contract.ts'
import { A2AError } from '../../model/error.ts'
import { defaultServerLimits } from '../defaults.ts'
import { type EncodedItem, type SealedBytes, chunkText } from './encoding-cache.ts'
import { type SseChunks, type SseStreamOptions, streamChunks } from './sse-chunks.ts'
import { createUnsentBytes } from './unsent-bytes.ts'

const framing: Framing = {
  contentType: 'application/json',
  before: '<',
  after: '>',
  errorEvent: 'event: error\n',
  error: (error) => error.code,
  status: () => 200,
}
const item = (seq: number): StreamItem => ({
  event: { message: { messageId: `${seq}`, role: 'ROLE_AGENT', parts: [] } },
  seq,
  final: false,
})

/** A source that the test drives: it pushes batches and counts the reader's calls. */
function createSource() {
  const queue: (readonly StreamItem[] | Error | 'end')[] = []
  let wake: (() => void) | undefined
  const seen = { asked: 0, returned: 0 }
  const stream: TaskEventStream = {
    [Symbol.asyncIterator]: () => ({
      async next() {
        seen.asked += 1
        while (queue.length === 0) await new Promise<void>((resolve) => (wake = resolve))
        const given = queue.shift()
        if (given instanceof Error) throw given
        return given === 'end' || given === undefined ? { done: true, value: undefined } : { done: false, value: given }
      },
      async return() {
        seen.returned += 1
        return { done: true, value: undefined }
      },
    }),
  }
  return {
    stream,
    seen,
    push(given: readonly StreamItem[] | Error | 'end') {
      queue.push(given)
      wake?.()
    },
  }
}
function partsOf(
  stream: TaskEventStream,
  over: Partial<SseStreamOptions> = {},
): SseStreamOptions & { readonly ends: number[] } {
  const ends: number[] = []
  return {
    stream,
    framing,
    encode: ({ seq }) => String(seq),
    cached: () => undefined,
    prepare: () => undefined,
    account: createUnsentBytes(defaultServerLimits).open('caller'),
    encoding: 'seq',
    keepAliveMs: 60_000,
    onError: (reason) => A2AError.from(reason),
    onEnd: () => ends.push(1),
    ends,
    ...over,
  }
}

describe('a stream in chunks', () => {
  it('frames an event once for all equal readers, and again for others', async () => {
    const event: StreamItem['event'] = { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'hi' }] } }
    let encoded = 0
    async function frame(over: Partial<SseStreamOptions>, item: Partial<StreamItem> = {}): Promise<Chunk | undefined> {
      const { stream, push } = createSource()
      push([{ event, seq: 1, final: false, ...item }])
      const encode = ({ final }: StreamItem): string => `${(encoded += 1)} ${final}`
      return (await streamChunks(partsOf(stream, { encode, ...over })).next()).value
    }
    const first = await frame({})
    assert.equal(await frame({}), first)
    assert.equal(encoded, 1)
    const other = { ...framing, before: '[' }
    const all = [await frame({ encoding: 'x' }), await frame({ framing: other }), await frame({}, { final: true })]
    all.push(await frame({}, { seq: 2 }), await frame({}, { gap: true }), await frame({}))
    assert.equal(new Set(all).size, 6)
    assert.equal(encoded, 7)
  })

  it('joins the events of one batch into one write and ends with its source [F-4]', async () => {
    const source = createSource()
    const parts = partsOf(source.stream)
    source.push([item(1), item(2)])
    source.push([])
    source.push([item(3)])
    source.push('end')
    assert.deepEqual(await Array.fromAsync(streamChunks(parts)), [
      'id: 1\ndata: <1>\n\nid: 2\ndata: <2>\n\n',
      'id: 3\ndata: <3>\n\n',
    ])
    assert.equal(parts.ends.length, 1)
  })

  it('splits a large batch into writes of bounded size', async () => {
    const source = createSource()
    const long = 'x'.repeat(10_000)
    source.push([item(1), item(2), item(3), item(4), item(5)])
    source.push('end')
    const chunks = await Array.fromAsync(streamChunks(partsOf(source.stream, { encode: () => long })))
    assert.deepEqual(
      chunks.map((chunk) => chunkText(chunk).split('data:').length - 1),
      [2, 2, 1],
    )
  })

  it('sends a large item in slices of shared bytes, in its own envelope', async () => {
    const bytes = new TextEncoder().encode(`{"text":"${'x'.repeat(150_000)}"}`)
    const encode = (): SealedBytes => ({ bytes, end: bytes.length - 2, suffix: '",}' })
    const unsent = createUnsentBytes(defaultServerLimits)
    const read = async (before: string): Promise<readonly Chunk[]> => {
      const source = createSource()
      source.push([item(1), { ...item(2), bytes: bytes.length }, item(3)])
      source.push('end')
      const mixed = (given: StreamItem): EncodedItem => (given.seq === 2 ? encode() : String(given.seq))
      const account = unsent.open(before)
      return Array.fromAsync(
        streamChunks(partsOf(source.stream, { encode: mixed, framing: { ...framing, before }, account })),
      )
    }
    const [mine, yours] = [await read('mine<'), await read('yours<')]
    assert.equal(
      mine.map(chunkText).join(''),
      `id: 1\ndata: mine<1>\n\nid: 2\ndata: mine<{"text":"${'x'.repeat(150_000)}",}>\n\nid: 3\ndata: mine<3>\n\n`,
    )
    assert.equal(yours.map(chunkText).join(''), mine.map(chunkText).join('').replaceAll('mine', 'yours'))
    const slices = [...mine, ...yours].filter((chunk) => typeof chunk !== 'string')
    assert.ok(slices.length > 4)
    for (const slice of slices) {
      assert.equal(slice.buffer, bytes.buffer)
      assert.ok(slice.length <= 65_536)
    }
    assert.equal(unsent.unsentBytes, 0)
  })

  it('starts no large item while its caller holds too much, and continues when there is budget', async () => {
    const unsent = createUnsentBytes({ unsentBytes: 1_000_000, unsentBytesPerCaller: 100_000 })
    const large = (): SseChunks => {
      const bytes = new TextEncoder().encode('x'.repeat(150_000))
      const source = createSource()
      source.push([{ ...item(1), bytes: bytes.length }])
      const account = unsent.open('caller')
      const encode = (): SealedBytes => ({ bytes, end: bytes.length, suffix: '' })
      return streamChunks(partsOf(source.stream, { encode, account }))
    }
    const [first, second] = [large(), large()]
    await first.next()
    let begun = false
    const waiting = second.next().then((result) => {
      begun = true
      return result
    })
    for (let turns = 0; turns < 5; turns += 1) await turn()
    assert.equal(begun, false)
    const begins = 'id: 1\ndata: <'
    assert.deepEqual([unsent.unsentBytes, unsent.paused], [150_000, 1])
    await first.return()
    assert.equal((await waiting).value, begins)
    assert.deepEqual([unsent.unsentBytes, unsent.paused], [150_000, 0])
    await second.return()
    assert.equal(unsent.unsentBytes, 0)
  })

  it('has a large item encoded in steps, after those before it, and counts it meanwhile', async () => {
    const unsent = createUnsentBytes(defaultServerLimits)
    const source = createSource()
    const heavy = { ...item(2), bytes: 600_000 }
    source.push([item(1), heavy, item(3)])
    const prepared: (() => void)[] = []
    const prepare = (of: StreamItem): Promise<void> | undefined =>
      of === heavy ? new Promise((resolve) => prepared.push(resolve)) : undefined
    const chunks = streamChunks(partsOf(source.stream, { prepare, account: unsent.open('caller') }))
    assert.equal((await chunks.next()).value, 'id: 1\ndata: <1>\n\n')
    const next = chunks.next()
    await turn()
    assert.deepEqual([prepared.length, unsent.unsentBytes], [1, 600_000])
    prepared[0]?.()
    assert.equal((await next).value, 'id: 2\ndata: <2>\n\nid: 3\ndata: <3>\n\n')
    await chunks.return()
    assert.deepEqual([prepared.length, unsent.unsentBytes], [1, 0])
  })

  it('reads no more from its source than its reader requests [B-95]', async () => {
    const source = createSource()
    const chunks = streamChunks(partsOf(source.stream))
    for (let seq = 1; seq <= 5; seq++) source.push([item(seq)])
    await chunks.next()
    await new Promise(setImmediate)
    assert.equal(source.seen.asked, 1)
    await chunks.next()
    assert.equal(source.seen.asked, 2)
  })

  it('sends a comment while it is idle, and then the next events [B-101]', async () => {
    const source = createSource()
    const chunks = streamChunks(partsOf(source.stream, { keepAliveMs: 5 }))
    assert.equal((await chunks.next()).value, keepAlive)
    assert.equal((await chunks.next()).value, keepAlive)
    source.push([item(1)])
    let next = await chunks.next()
    while (next.value === keepAlive) next = await chunks.next()
    assert.equal(next.value, 'id: 1\ndata: <1>\n\n')
    await chunks.return()
  })

  it('ends with an error document when its source fails, also between two pulls [F-7]', async () => {
    for (const breaksBetween of [false, true]) {
      const source = createSource()
      const parts = partsOf(source.stream, { keepAliveMs: 5 })
      const chunks = streamChunks(parts)
      if (breaksBetween) {
        assert.equal((await chunks.next()).value, keepAlive)
        source.push(new A2AError('UNAVAILABLE', 'gone'))
        await new Promise(setImmediate)
      } else source.push(new A2AError('UNAVAILABLE', 'gone'))
      assert.equal((await chunks.next()).value, 'event: error\ndata: UNAVAILABLE\n\n')
      assert.equal((await chunks.next()).done, true)
      assert.equal(parts.ends.length, 1)
    }
  })

  it('keeps the events before one that cannot be encoded, and closes its source [F-7]', async () => {
    const source = createSource()
    const parts = partsOf(source.stream, {
      encode({ seq }) {
        if (seq === 2) throw new Error('secret')
        return String(seq)
      },
    })
    source.push([item(1), item(2), item(3)])
    const chunks = streamChunks(parts)
    assert.equal((await chunks.next()).value, 'id: 1\ndata: <1>\n\nevent: error\ndata: INTERNAL\n\n')
    assert.equal((await chunks.next()).done, true)
    assert.equal(source.seen.returned, 1)
    assert.equal(parts.ends.length, 1)
  })

  it('ends at once when its reader leaves, also while waiting [B-103]', async () => {
    const source = createSource()
    const parts = partsOf(source.stream)
    const chunks = streamChunks(parts)
    const waiting = chunks.next()
    await chunks.return()
    assert.equal((await waiting).done, true)
    await chunks.return()
    assert.equal(source.seen.returned, 1)
    assert.equal(parts.ends.length, 1)
    source.push([item(1)])
    await new Promise(setImmediate)
    assert.equal((await chunks.next()).done, true)
  })
})
