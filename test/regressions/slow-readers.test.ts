/**
 * Guards against: a client that opens a stream and does not read. In other servers everything
 * the agent reports piles up in memory for as long as the client stays connected.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { artifact } from '@parley/a2a'
import type { Task } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { createRecordingLog, waitUntil, createGate } from './protocol-requests.ts'

const chunks = 300
const chunk = 'x'.repeat(256 * 1024)
const readers = 8
/** One megabyte per reader. A frame or two more may be in flight. */
const boundBytes = 2 * 1024 * 1024

const directory = mkdtempSync(join(tmpdir(), 'parley-defects-'))
const closing: { close(): Promise<void> }[] = []
after(async () => {
  for (const server of closing) await server.close()
  rmSync(directory, { recursive: true, force: true })
})

describe('readers that do not read', () => {
  it('use a bounded number of bytes each, delay no others, and are disconnected [B-95]', async () => {
    const begin = createGate()
    const responses: ServerResponse[] = []
    const server = await serve({
      port: 0,
      store: sqliteStore({ file: join(directory, 'tasks.db'), durability: 'normal' }),
      stallMs: 1_500,
      log: createRecordingLog(),
      async *agent() {
        yield artifact('log', { text: 'begin' })
        await begin.opened
        for (let index = 0; index < chunks; index += 1) yield artifact('log', { text: chunk, append: true })
      },
    })
    closing.push(server)
    server.server.on(
      'request',
      ({ method }, response: ServerResponse) => void (method === 'GET' && responses.push(response)),
    )

    const task = await send(server.url)
    const sockets = await Promise.all(Array.from({ length: readers }, () => subscribeAndSleep(server.port, task.id)))
    await waitUntil(() => responses.filter(({ headersSent }) => headersSent).length === readers, 'all streams are open')
    let most = 0
    const watch = setInterval(
      () => (most = Math.max(most, ...responses.map(({ writableLength }) => writableLength))),
      2,
    )
    begin.open()

    // A list omits artifacts; fetching all of them repeatedly would be the greater load.
    const state = async (): Promise<string> => (await rpc(server.url, 'ListTasks', {})).tasks[0].status.state
    await waitUntil(async () => (await state()) === 'TASK_STATE_COMPLETED', 'the task completes', 60_000)
    await waitUntil(
      () => responses.every(({ destroyed, writableFinished }) => destroyed || writableFinished),
      'the sleepers are dropped',
      60_000,
    )
    clearInterval(watch)
    assert.ok(most > 0, 'nothing was ever written')
    assert.ok(most <= boundBytes, `one reader cost ${most} bytes of ${chunks * chunk.length}`)
    for (const socket of sockets) socket.destroy()

    // A reader that comes back loses nothing.
    const { artifacts = [] } = (await rpc(server.url, 'GetTask', { id: task.id })) as Task
    const size = artifacts[0]?.parts.reduce((sum, part) => sum + ('text' in part ? part.text.length : 0), 0)
    assert.equal(size, 'begin'.length + chunks * chunk.length)
  })
})

async function rpc(url: string, method: string, params: unknown): Promise<any> {
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' }
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return ((await response.json()) as { result: unknown }).result
}

async function send(url: string): Promise<Task> {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'go' }] }
  return (await rpc(url, 'SendMessage', { message, configuration: { returnImmediately: true } })).task
}

/** Opens the stream and never reads a byte of it. */
async function subscribeAndSleep(port: number, id: string): Promise<ReturnType<typeof connect>> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.pause()
  await once(socket, 'connect')
  socket.write(`GET /tasks/${id}:subscribe HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nA2A-Version: 1.0\r\n\r\n`)
  return socket
}
