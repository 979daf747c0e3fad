/**
 * How long one request holds the event loop: `npx node --conditions=parley-source bench/event-loop.ts [name…]`. Each body is
 * within the default limits and the worst case. A block is the CPU time of the main thread between two turns of its
 * loop: on an idle machine that is how long another request waits.
 */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { serve } from '@parley/a2a/node'
import { sqliteStore } from '@parley/a2a/stores/sqlite'

const bytes = 18_000_000
const nodes = 99_900
const each = Math.floor(bytes / nodes)

const listOf = (count: number, item: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => item(index)).join(',')
const request = (parts: string, more = '', id = '1'): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"SendMessage","params":{"message":{"messageId":"${randomUUID()}","role":"ROLE_USER","parts":[${parts}]${more}}}}`
const text = (piece: string, pieceBytes: number): string =>
  request(`{"text":"${piece.repeat(Math.floor(bytes / pieceBytes))}"}`)
const fields = listOf(nodes, (index) => `"${'k'.repeat(each - 20)}${(index * 7_919) % nodes}":1`)

const bodies: Readonly<Record<string, () => string>> = {
  'one text': () => text('x', 1),
  'escaped nulls': () => text('\\u0000', 6),
  'escaped quotes': () => text('\\"', 2),
  emoji: () => text('😀', 4),
  'halves of surrogate pairs': () => text('\\ud800', 6),
  'one file': () => request(`{"raw":"${'QUJD'.repeat(bytes / 4)}"}`),
  '1,000 parts': () => request(listOf(1_000, () => `{"text":"${'x'.repeat(bytes / 1_000)}"}`)),
  '100,000 short keys': () => request(`{"data":{${listOf(nodes, (index) => `"k${index}":${index}`)}}}`),
  '100,000 long keys': () => request(`{"data":{${fields}}}`),
  'long keys in metadata': () => request('{"text":"x"}', `,"metadata":{${fields}}`),
  '100,000 empty objects': () => request(`{"data":[${listOf(nodes, () => '{}')}]}`),
  '100,000 strings': () => request(`{"data":[${listOf(nodes, () => `"${'é'.repeat(each / 2 - 5)}"`)}]}`),
  '100,000 long numbers': () => request(`{"data":[${listOf(nodes, () => '7'.repeat(each - 5))}]}`),
  'an id beyond a double': () => request(`{"data":{${fields}}}`, '', '12345678901234567890'),
  'white space': () => request('{"text":"x"}') + ' '.repeat(bytes),
  'a million keys (refused)': () => request(`{"data":{${listOf(1_000_000, (index) => `"k${index}":1`)}}}`),
  'a list of objects (refused)': () => `[${'{},'.repeat(bytes / 3 - 1)}{}]`,
}

const dir = mkdtempSync(join(tmpdir(), 'parley-bench-'))
const server = await serve({
  port: 0,
  quiet: true,
  store: sqliteStore(join(dir, 'tasks.db')),
  // An echo: the input is stored and written twice.
  async *agent({ message }) {
    yield* message.parts
  },
})

let longestMs = 0
let before = cpuMs()
let isDone = false
setImmediate(watch)

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

function watch(): void {
  const now = cpuMs()
  longestMs = Math.max(longestMs, now - before)
  before = now
  if (!isDone) setImmediate(watch)
}

/** The client runs in a separate thread, so that its work does not count. */
const client = new Worker(
  `const { parentPort } = require('node:worker_threads')
  parentPort.on('message', async ({ url, bodies }) => {
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' }
    const statuses = await Promise.all(bodies.map(async (body) => {
      const response = await fetch(url, { method: 'POST', headers, body })
      await response.arrayBuffer()
      return response.status
    }))
    parentPort.postMessage(statuses)
  })`,
  { eval: true },
)

async function longestBlock(made: readonly string[]): Promise<{ statuses: readonly number[]; ms: number }> {
  const sent = made.map((body) => Buffer.from(body))
  // The garbage of creating them does not belong to the server.
  await new Promise((resolve) => setTimeout(resolve, 100))
  longestMs = 0
  const answered = new Promise<readonly number[]>((resolve) => client.once('message', resolve))
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  client.postMessage({ url: server.url, bodies: sent })
  const statuses = await answered
  await new Promise((resolve) => setTimeout(resolve, 200))
  return { statuses, ms: longestMs }
}

const wanted = process.argv.slice(2)
for (const [name, make] of Object.entries(bodies)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const alone = [await longestBlock([make()]), await longestBlock([make()]), await longestBlock([make()])]
  const together = await longestBlock([make(), make(), make(), make()])
  const status = alone[0]?.statuses[0]
  const figures = alone.map(({ ms }) => ms.toFixed(0)).join(', ')
  console.log(`${name.padEnd(28)} HTTP ${status}  alone ${figures} ms  four at once ${together.ms.toFixed(0)} ms`)
}

isDone = true
await client.terminate()
await server.close()
rmSync(dir, { recursive: true })
