/**
 * A server for silent-readers.full.test.ts, in a separate process with a bounded heap: one large task on request, and reports of its memory
 * several times a second.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { artifact } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import { sqliteStore } from '@parley/a2a/stores/sqlite'

const [events = '1000', eventBytes = '15000', end = 'end'] = process.argv.slice(2)
const text = 'x'.repeat(Number(eventBytes))

const directory = mkdtempSync(join(tmpdir(), 'parley-silent-'))
const server = await serve({
  port: 0,
  grpcPort: 0,
  store: sqliteStore({ file: join(directory, 'tasks.db'), durability: 'normal' }),
  log: { debug() {}, info() {}, warn() {}, error() {} },
  // Longer than the test takes: silent readers stay connected.
  stallMs: 3_600_000,
  async *agent({ text: asked, signal }) {
    if (asked === 'ping') return void (yield 'pong')
    for (let index = 0; index < Number(events); index += 1) yield artifact('log', { text, append: index > 0 })
    yield artifact('done', { text: 'all of it' })
    if (end === 'open') await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
  },
})

let answered = 0
server.server.on('request', (_request, response) => {
  const look = setInterval(() => {
    if (!response.headersSent) return
    answered += 1
    clearInterval(look)
  }, 10)
  response.once('close', () => clearInterval(look))
})

process.send?.({ url: server.url, port: server.port, grpcPort: server.grpcPort })
const report = setInterval(() => {
  const { rss, external } = process.memoryUsage()
  // Absent if a server does not count them yet.
  const readers = server.handler.readers as typeof server.handler.readers | undefined
  const { unsentBytes = 0, paused = 0, pagesRead = 0, pagesShared = 0 } = readers ?? {}
  process.send?.({
    rss,
    external,
    answered,
    streams: server.handler.openStreams(),
    unsentBytes,
    paused,
    pagesRead,
    pagesShared,
  })
}, 25)
process.once('disconnect', () => {
  clearInterval(report)
  rmSync(directory, { recursive: true, force: true })
  // With streams open to clients that do not read there is nothing to wait for.
  process.exit(0)
})
