/** The phases of `close()`: it announces the shutdown, finishes what cannot be resumed, and leaves the rest to the next process. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { sqliteStore } from '../stores/sqlite/index.ts'
import { serve, type Server } from './node.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

const post = (server: Server, path: string, text = 'go') =>
  fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] } }),
  })

const folder = mkdtempSync(join(tmpdir(), 'parley-drain-'))
after(() => rmSync(folder, { recursive: true }))

describe('a closing server', () => {
  it('reports not ready, and serves for the notice period', async () => {
    // Long enough for the three requests on a busy machine: with 300 ms, one of them once came too late.
    const server = await serve({ port: 0, store: memoryStore(), shutdownDelayMs: 2_000, agent: () => 'x', log: quiet })
    assert.equal((await fetch(`${server.url}/readyz`)).status, 200)
    const closed = server.close()
    assert.equal((await fetch(`${server.url}/readyz`)).status, 503)
    assert.equal((await fetch(`${server.url}/healthz`)).status, 200)
    assert.equal((await post(server, '/message:send')).status, 200)
    await closed
    await assert.rejects(fetch(`${server.url}/readyz`))
  })

  it('lets an agent finish that cannot be resumed, and its stream with it', async () => {
    const server = await serve({
      port: 0,
      store: memoryStore(),
      log: quiet,
      async *agent() {
        yield 'one '
        await sleep(200)
        yield 'two'
      },
    })
    const stream = await post(server, '/message:stream')
    await server.close()
    const text = await stream.text()
    assert.match(text, /"two"/)
    assert.match(text, /TASK_STATE_COMPLETED/)
    assert.doesNotMatch(text, /event: error/)
  })

  it('does not wait for one that can run again: the next server runs it', { timeout: 120_000 }, async () => {
    const file = join(folder, 'tasks.db')
    const agent = {
      resume: 'rerun' as const,
      async *run({ resumed }: { resumed?: unknown }) {
        if (resumed === undefined) {
          yield 'one '
          await new Promise(() => {})
        }
        yield 'again'
      },
    }
    const first = await serve({ port: 0, store: sqliteStore(file), agent, log: quiet, drainMs: 600_000 })
    const stream = await post(first, '/message:stream')
    await first.close()
    const frames = await stream.text()
    assert.match(frames, /event: error/)
    const [, id] = /"id":"([^"]+)"/.exec(frames) ?? []
    const second = await serve({ port: 0, store: sqliteStore(file), agent, log: quiet })
    const rest = await fetch(`${second.url}/tasks/${id}:subscribe`, {
      headers: { 'a2a-version': '1.0', 'last-event-id': '0' },
    })
    assert.match(await rest.text(), /"again"[^]*TASK_STATE_COMPLETED/)
    await second.close()
  })
})
