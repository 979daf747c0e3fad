import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Framing } from '../../bindings/protocol-binding.ts'
import { type Chunk, keepAlive } from '../../bindings/http.ts'
import type { TaskEventStream, StreamItem } from '../../engine/contract.ts'
import { A2AError } from '../../model/error.ts'
import { defaultServerLimits } from '../defaults.ts'
import { nextOf } from '../../model/pollable.ts'
import { type EncodedItem, type EventEncoder, type SealedBytes, chunkText } from './encoding-cache.ts'
import { type OpenEvents, SseChunks, type SseOptions } from './event-stream.ts'
import { createUnsentBytes } from './reader-limits.ts'

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
type Options = Partial<EventEncoder & SseOptions & Pick<OpenEvents, 'account' | 'call'>>

/** A stream of this source, and how often it was closed. */
function open(stream: TaskEventStream, over: Options = {}): { readonly chunks: SseChunks; readonly closes: number[] } {
  const closes: number[] = []
  const encoder: EventEncoder = {
    encode: ({ seq }) => String(seq),
    payload: () => assert.fail(),
    payloadInSteps: () => assert.fail(),
    cached: () => undefined,
    prepare: () => undefined,
    encoding: 'seq',
    ...over,
  }
  const account = over.account ?? createUnsentBytes(defaultServerLimits).open('caller')
  const call = over.call ?? { isReported: true, report() {}, reportStream() {} }
  const chunks = new SseChunks(
    { call, stream, account, encoder, onClose: () => closes.push(1) },
    { framing, keepAliveMs: 60_000, onError: (reason) => A2AError.from(reason), ...over },
  )
  return { chunks, closes }
}

async function readAll(chunks: SseChunks): Promise<Chunk[]> {
  const all: Chunk[] = []
  for (let next = await nextOf(chunks); next.done !== true; next = await nextOf(chunks)) all.push(next.value)
  return all
}

describe('a stream in chunks', () => {
  it('frames an event once for all equal readers, and again for others', async () => {
    const event: StreamItem['event'] = { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'hi' }] } }
    let encoded = 0
    async function frame(over: Options, item: Partial<StreamItem> = {}): Promise<Chunk | undefined> {
      const { stream, push } = createSource()
      push([{ event, seq: 1, final: false, ...item }])
      const encode = ({ final }: StreamItem): string => `${(encoded += 1)} ${final}`
      return (await nextOf(open(stream, { encode, ...over }).chunks)).value
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
    const { chunks, closes } = open(source.stream)
    source.push([item(1), item(2)])
    source.push([])
    source.push([item(3)])
    source.push('end')
    assert.deepEqual(await readAll(chunks), ['id: 1\ndata: <1>\n\nid: 2\ndata: <2>\n\n', 'id: 3\ndata: <3>\n\n'])
    assert.equal(closes.length, 1)
  })

  it('splits a large batch into writes of bounded size', async () => {
    const source = createSource()
    const long = 'x'.repeat(10_000)
    source.push([item(1), item(2), item(3), item(4), item(5)])
    source.push('end')
    const chunks = await readAll(open(source.stream, { encode: () => long }).chunks)
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
      return readAll(open(source.stream, { encode: mixed, framing: { ...framing, before }, account }).chunks)
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
      return open(source.stream, { encode, account }).chunks
    }
    const [first, second] = [large(), large()]
    await nextOf(first)
    let begun = false
    const waiting = nextOf(second).then((result) => {
      begun = true
      return result
    })
    for (let turns = 0; turns < 5; turns += 1) await turn()
    assert.equal(begun, false)
    const begins = 'id: 1\ndata: <'
    assert.deepEqual([unsent.unsentBytes, unsent.paused], [150_000, 1])
    first.close()
    assert.equal((await waiting).value, begins)
    assert.deepEqual([unsent.unsentBytes, unsent.paused], [150_000, 0])
    second.close()
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
    const { chunks } = open(source.stream, { prepare, account: unsent.open('caller') })
    assert.equal((await nextOf(chunks)).value, 'id: 1\ndata: <1>\n\n')
    const next = nextOf(chunks)
    await turn()
    assert.deepEqual([prepared.length, unsent.unsentBytes], [1, 600_000])
    prepared[0]?.()
    assert.equal((await next).value, 'id: 2\ndata: <2>\n\nid: 3\ndata: <3>\n\n')
    chunks.close()
    assert.deepEqual([prepared.length, unsent.unsentBytes], [1, 0])
  })

  it('reads no more from its source than its reader requests [B-95]', async () => {
    const source = createSource()
    const { chunks } = open(source.stream)
    for (let seq = 1; seq <= 5; seq++) source.push([item(seq)])
    await nextOf(chunks)
    await new Promise(setImmediate)
    assert.equal(source.seen.asked, 1)
    await nextOf(chunks)
    assert.equal(source.seen.asked, 2)
  })

  it('sends a comment while it is idle, and then the next events [B-101]', async () => {
    const source = createSource()
    const { chunks } = open(source.stream, { keepAliveMs: 5 })
    assert.equal((await nextOf(chunks)).value, keepAlive)
    assert.equal((await nextOf(chunks)).value, keepAlive)
    source.push([item(1)])
    let next = await nextOf(chunks)
    while (next.value === keepAlive) next = await nextOf(chunks)
    assert.equal(next.value, 'id: 1\ndata: <1>\n\n')
    chunks.close()
  })

  it('ends with an error document when its source fails, also between two pulls [F-7]', async () => {
    for (const breaksBetween of [false, true]) {
      const source = createSource()
      const { chunks, closes } = open(source.stream, { keepAliveMs: 5 })
      if (breaksBetween) {
        assert.equal((await nextOf(chunks)).value, keepAlive)
        source.push(new A2AError('UNAVAILABLE', 'gone'))
        await new Promise(setImmediate)
      } else source.push(new A2AError('UNAVAILABLE', 'gone'))
      assert.equal((await nextOf(chunks)).value, 'event: error\ndata: UNAVAILABLE\n\n')
      assert.equal((await nextOf(chunks)).done, true)
      assert.equal(closes.length, 1)
    }
  })

  it('keeps the events before one that cannot be encoded, and closes its source [F-7]', async () => {
    const source = createSource()
    const { chunks, closes } = open(source.stream, {
      encode({ seq }) {
        if (seq === 2) throw new Error('secret')
        return String(seq)
      },
    })
    source.push([item(1), item(2), item(3)])
    assert.equal((await nextOf(chunks)).value, 'id: 1\ndata: <1>\n\nevent: error\ndata: INTERNAL\n\n')
    assert.equal((await nextOf(chunks)).done, true)
    assert.equal(source.seen.returned, 1)
    assert.equal(closes.length, 1)
  })

  it('ends at once when its reader leaves, also while waiting [B-103]', async () => {
    const source = createSource()
    const { chunks, closes } = open(source.stream)
    const waiting = nextOf(chunks)
    chunks.close()
    assert.equal((await waiting).done, true)
    chunks.close()
    assert.equal(source.seen.returned, 1)
    assert.equal(closes.length, 1)
    source.push([item(1)])
    await new Promise(setImmediate)
    assert.equal((await nextOf(chunks)).done, true)
  })

  it('reports its call with its first event, with the error in its place, or when its reader leaves', async () => {
    const outcomes = async (use: (source: ReturnType<typeof createSource>, chunks: SseChunks) => Promise<unknown>) => {
      const reported: string[] = []
      const call: OpenEvents['call'] = {
        isReported: false,
        report: (outcome) => void reported.push(outcome),
        reportStream(batch) {
          if (batch.done !== true && batch.value.length === 0) return
          reported.push(`event ${batch.done === true ? '-' : batch.value[0]?.seq}`)
          Object.assign(call, { isReported: true })
        },
      }
      const source = createSource()
      const { chunks } = open(source.stream, { call })
      await use(source, chunks)
      chunks.close()
      return reported
    }
    const events = await outcomes(async ({ push }, chunks) => {
      push([])
      push([item(7)])
      push([item(8)])
      push('end')
      await readAll(chunks)
    })
    assert.deepEqual(events, ['event 7'])
    const failure = await outcomes(async ({ push }, chunks) => {
      push(new A2AError('TASK_NOT_FOUND', 'gone'))
      await readAll(chunks)
    })
    assert.equal(failure[0], 'TASK_NOT_FOUND')
    assert.deepEqual(await outcomes(async () => {}), ['OK'])
  })

  it('ends while its reader waits, with the reason as its last error, and closes its source', async () => {
    const source = createSource()
    const { chunks, closes } = open(source.stream)
    source.push([item(1)])
    await nextOf(chunks)
    const waiting = nextOf(chunks)
    assert.equal(chunks.end(new A2AError('UNAUTHENTICATED', 'revoked')), true)
    assert.equal(chunks.end(new A2AError('INTERNAL', 'again')), false)
    assert.equal((await waiting).value, 'event: error\ndata: UNAUTHENTICATED\n\n')
    assert.equal((await nextOf(chunks)).done, true)
    assert.deepEqual([source.seen.returned, closes.length], [1, 1])
  })

  it('sends no events that were read before it was ended', async () => {
    const source = createSource()
    const long = 'x'.repeat(20_000)
    const { chunks } = open(source.stream, { encode: () => long })
    source.push([item(1), item(2)])
    await nextOf(chunks)
    chunks.end(new A2AError('UNAUTHENTICATED', 'revoked'))
    assert.equal((await nextOf(chunks)).value, 'event: error\ndata: UNAUTHENTICATED\n\n')
  })
})
