/** Responses that are too large, or expand while they are read: accepted up to the limit, rejected beyond it. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { gzipSync } from 'node:zlib'
import { discover } from '@parley/a2a/client'
import type { Exchange } from './exchange.ts'
import { failsWith, faultCase, limits } from './fault-case.ts'
import { chunk, statusUpdate, task, taskId } from './sample-task.ts'

const megabyte = 1024 * 1024
const big = 'x'.repeat(5 * megabyte)
/** A hundred megabytes of zeros, compressed to a hundred kilobytes. */
const bomb = gzipSync(Buffer.alloc(100 * megabyte, ' '))
const refused = ['INVALID_AGENT_RESPONSE', 'PAYLOAD_TOO_LARGE', 'INTERRUPTED'] as const

function streamOf(text: string): (exchange: Exchange) => void {
  return (exchange) => {
    exchange.stream()
    exchange.event({ task: task('SUBMITTED') })
    exchange.event(chunk(text, { append: false }))
    exchange.event(statusUpdate('COMPLETED'))
    exchange.end()
  }
}

describe('an event of five megabytes', () => {
  faultCase('is accepted by default', async ({ open, connect, signal }) => {
    const server = await open({ SendStreamingMessage: streamOf(big) })
    const text = await (await connect(server)).stream('go', { signal }).text()
    assert.equal(text.length, big.length)
  })

  faultCase('is accepted in small chunks', async ({ open, connect, signal }) => {
    const server = await open({
      SendStreamingMessage(exchange) {
        exchange.stream()
        exchange.event({ task: task('SUBMITTED') })
        const text = JSON.stringify({ jsonrpc: '2.0', id: 1, result: chunk(big, { append: false }) })
        exchange.chunk('data: ')
        for (let at = 0; at < text.length; at += 10_000) exchange.chunk(text.slice(at, at + 10_000))
        exchange.chunk('\n\n')
        exchange.event(statusUpdate('COMPLETED'))
        exchange.end()
      },
    })
    assert.equal((await (await connect(server)).stream('go', { signal }).text()).length, big.length)
  })

  faultCase('is rejected over a lower limit, and not fetched repeatedly', async ({ open, connect, signal }) => {
    const server = await open({
      SendStreamingMessage: streamOf(big),
      SubscribeToTask: streamOf(big),
      GetTask: (exchange) => exchange.result(task('WORKING')),
    })
    const agent = await connect(server, { limits: { maxEventBytes: megabyte } })
    await failsWith(agent.stream('go', { signal }).all(), ...refused)
    assert.ok(server.count('SubscribeToTask') <= 3, `${server.count('SubscribeToTask')} times`)
  })
})

describe('an endless event', () => {
  for (const [what, piece] of [
    ['of one line', 'x'.repeat(64 * 1024)],
    ['of many lines', `data: ${'x'.repeat(1000)}\n`.repeat(64)],
    ['of comments', `: ${'x'.repeat(1000)}\n`.repeat(64)],
  ] as const) {
    faultCase(`${what} is ended at the limit or the deadline`, async ({ open, connect, signal }) => {
      let sent = 0
      const pour = async (exchange: Exchange): Promise<void> => {
        exchange.stream()
        exchange.chunk('data: ')
        while (!exchange.socket.destroyed) {
          exchange.chunk(piece)
          sent += piece.length
          if (exchange.socket.writableNeedDrain) await drained(exchange)
        }
      }
      const server = await open({ SendStreamingMessage: pour })
      const agent = await connect(server, { limits: { maxEventBytes: megabyte } })
      await failsWith(agent.stream('go', { signal, timeoutMs: 500 }).all(), ...refused, 'TIMEOUT')
      if (what !== 'of comments') assert.ok(sent < 64 * megabyte, `${sent} bytes were taken`)
    })
  }
})

describe('a body', () => {
  faultCase('over the limit is rejected, with and without a declared length', async ({ open, connect, signal }) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, result: task('COMPLETED', big) })
    for (const says of [true, false]) {
      const server = await open({
        GetTask(exchange) {
          if (says) return exchange.answer(200, { 'content-type': 'application/json' }, body)
          exchange.head(200, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' })
          exchange.chunk(body)
          exchange.end()
        },
      })
      const agent = await connect(server, { limits: { maxBodyBytes: megabyte } })
      await failsWith(agent.get(taskId, { signal }), ...refused)
      const roomy = await connect(server, { limits: { maxBodyBytes: 16 * megabyte } })
      assert.equal((await roomy.get(taskId, { signal })).status.state, 'TASK_STATE_COMPLETED')
    }
  })

  faultCase('with a wrong length is rejected', async ({ open, connect, signal }) => {
    const server = await open({
      GetTask: (exchange) => {
        exchange.head(200, { 'content-type': 'application/json', 'content-length': 1e12 })
        exchange.raw('{"jsonrpc":"2.0","id":1,')
        exchange.hangUp()
      },
    })
    await failsWith((await connect(server)).get(taskId, { signal }), ...refused, 'UNAVAILABLE')
  })

  faultCase('that expands when it is decompressed is ended at the limit', async ({ open, connect, signal }) => {
    const gzip = (exchange: Exchange, type: string): void =>
      exchange.answer(200, { 'content-type': type, 'content-encoding': 'gzip' }, bomb)
    const server = await open({
      GetTask: (exchange) => gzip(exchange, 'application/json'),
      SendStreamingMessage: (exchange) => gzip(exchange, 'text/event-stream'),
    })
    const agent = await connect(server, { limits: { maxBodyBytes: megabyte, maxEventBytes: megabyte } })
    const before = process.memoryUsage().rss
    await failsWith(agent.get(taskId, { signal }), ...refused)
    await failsWith(agent.stream('go', { signal }).all(), ...refused)
    const grown = (process.memoryUsage().rss - before) / megabyte
    assert.ok(grown < 80, `grew by ${Math.round(grown)} MB`)
  })

  faultCase('with a wrong content encoding is rejected', async ({ open, connect, signal }) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, result: task('COMPLETED') })
    const server = await open({
      GetTask: (exchange) =>
        exchange.answer(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }, body),
    })
    await failsWith((await connect(server)).get(taskId, { signal }))
  })
})

describe('a card', () => {
  for (const [what, serve] of [
    ['larger than allowed', (exchange: Exchange) => exchange.json({ name: big })],
    [
      'that swells when it is unpacked',
      (exchange: Exchange) => exchange.answer(200, { 'content-encoding': 'gzip' }, bomb),
    ],
    ['without an end', (exchange: Exchange) => void pourCard(exchange)],
  ] as const) {
    faultCase(`${what} is rejected [B-26]`, async ({ open, connect, signal }) => {
      const server = await open({ card: serve })
      await failsWith(connect(server, { limits: { maxCardBytes: megabyte } }), ...refused, 'TIMEOUT')
      const found = await discover(server.url, { signal, limits: { ...limits, maxCardBytes: megabyte } })
      assert.equal(found, null)
    })
  }
})

describe('headers', () => {
  faultCase('of a megabyte are rejected', async ({ open, connect, signal }) => {
    const server = await open({
      GetTask(exchange) {
        const headers = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`x-${n}`, 'y'.repeat(1000)]))
        exchange.answer(200, headers, '{}')
      },
    })
    await failsWith((await connect(server)).get(taskId, { signal }), 'UNAVAILABLE', 'INVALID_AGENT_RESPONSE')
  })

  faultCase('without an end are rejected or time out', async ({ open, connect, signal }) => {
    const server = await open({
      async GetTask(exchange) {
        exchange.raw('HTTP/1.1 200 OK\r\n')
        while (!exchange.socket.destroyed) {
          exchange.raw(`x-more: ${'y'.repeat(1000)}\r\n`)
          await new Promise((resolve) => setImmediate(resolve))
        }
      },
    })
    const agent = await connect(server, { limits: { timeoutMs: 500 } })
    await failsWith(agent.get(taskId, { signal }), 'UNAVAILABLE', 'TIMEOUT', 'INVALID_AGENT_RESPONSE')
  })
})

function drained({ socket }: Exchange): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off('drain', done).off('close', done)
      resolve()
    }
    socket.on('drain', done).on('close', done)
  })
}

async function pourCard(exchange: Exchange): Promise<void> {
  exchange.head(200, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' })
  exchange.chunk('{"name":"')
  while (!exchange.socket.destroyed) {
    exchange.chunk('x'.repeat(64 * 1024))
    if (exchange.socket.writableNeedDrain) await drained(exchange)
  }
}
