/** One stream, cut after each of its bytes, and sent in chunks of every size. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { faultCase } from './fault-case.ts'
import type { Exchange } from './exchange.ts'
import { events, taskAfter, wholeText } from './sample-task.ts'

/** Bytes between two cuts, besides those around the end of each event. */
const step = process.env['PARLEY_FULL'] === '1' ? 7 : 29

/** The body as a server would send it, with a few multi-byte characters. */
function bytesOf(cursors: boolean): Buffer {
  const frames = events.map((event, index) => {
    const envelope = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { ...event, note: 'Grüße 🌍' } })
    return `${cursors ? `id: ${index + 1}\n` : ''}data: ${envelope}\n\n`
  })
  return Buffer.from(frames.join(''))
}

/** How many events are complete and terminated. */
function wholeIn(bytes: Buffer): number {
  return bytes.toString().split('\n\n').length - 1
}

function cutsOf(bytes: Buffer, first: number): readonly number[] {
  const cuts = new Set<number>()
  for (let cut = first; cut <= bytes.length; cut += step) cuts.add(cut)
  for (let end = first; end > 1; end = bytes.indexOf('\n\n', end) + 2)
    for (const around of [-2, -1, 0, 1, 6]) cuts.add(end + around)
  return [...cuts].filter((cut) => cut >= first && cut <= bytes.length).toSorted((a, b) => a - b)
}

describe('a stream that is cut after any byte', () => {
  for (const cursors of [true, false]) {
    faultCase(
      `is resumed ${cursors ? 'after its last cursor' : 'from the current task'}, and its text is delivered once [B-98]`,
      async ({ open, connect, signal }) => {
        const bytes = bytesOf(cursors)
        let cut = 0
        const server = await open({
          SendStreamingMessage(exchange) {
            exchange.stream()
            exchange.chunk(bytes.subarray(0, cut))
            exchange.hangUp()
          },
          SubscribeToTask(exchange) {
            exchange.stream()
            const last = exchange.headers['last-event-id']
            const from = last === undefined ? wholeIn(bytes.subarray(0, cut)) : Number(last)
            if (last === undefined) exchange.event({ task: taskAfter(from) }, cursors ? from : undefined)
            events.slice(from).forEach((event, index) => exchange.event(event, cursors ? from + index + 1 : undefined))
            exchange.end()
          },
          GetTask: (exchange) => exchange.result(taskAfter(events.length)),
        })
        const agent = await connect(server)
        const first = bytes.indexOf('\n\n') + 2
        for (cut of cutsOf(bytes, first)) {
          assert.equal(await agent.stream('go', { signal }).text(), wholeText, `cut after ${cut} bytes`)
        }
      },
    )
  }
})

describe('a stream in chunks of any size', () => {
  faultCase('is the same stream [F-5]', async ({ open, connect, signal }) => {
    const bytes = bytesOf(true)
    let size = 1
    const server = await open({ SendStreamingMessage: (exchange) => inPieces(exchange, bytes, size) })
    const agent = await connect(server)
    for (size of [1, 2, 3, 5, 7, 11, 64, 1000]) {
      assert.equal(await agent.stream('go', { signal }).text(), wholeText, `in pieces of ${size}`)
    }
  })
})

/** One packet each: writes in the same turn of the event loop would arrive as one. */
async function inPieces(exchange: Exchange, bytes: Buffer, size: number): Promise<void> {
  exchange.stream()
  for (let at = 0; at < bytes.length; at += size) {
    exchange.chunk(bytes.subarray(at, at + size))
    if (at % 64 < size) await new Promise((resolve) => setImmediate(resolve))
  }
  exchange.end()
}
