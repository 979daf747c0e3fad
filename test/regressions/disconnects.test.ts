/**
 * Guards against: mistaking a disconnected client for one that wants its task
 * canceled, and the reverse: an agent that cannot learn that its task was canceled.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, describe, it } from 'node:test'
import { memoryStore, status } from '@parley/a2a'
import type { Agent, Task } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import { testAgent } from '@parley/a2a/testing'
import { waitUntil, createGate, newMessage, nameOf, sendRequest, requestFormats } from './protocol-requests.ts'

const closing: { close(): Promise<void> }[] = []
after(async () => {
  for (const one of closing) await one.close()
})

/** An agent that reports its start and its abort, and ends when the test releases it. */
function watched(): { agent: Agent; began: Promise<string>; finish(): void; aborted(): boolean } {
  const began = Promise.withResolvers<string>()
  const go = createGate()
  let aborted = false
  return {
    began: began.promise,
    finish: go.open,
    aborted: () => aborted,
    async *agent({ task, signal }) {
      signal.addEventListener('abort', () => (aborted = true))
      yield status('At work')
      began.resolve(task.id)
      await go.opened
      yield 'done'
    },
  }
}

describe('a client that disconnects', () => {
  for (const way of requestFormats) {
    for (const stream of [true, false]) {
      it(`during a ${stream ? 'stream' : 'blocking call'} does not stop the work, in ${nameOf(way)} [B-67 B-103]`, async () => {
        const { agent, began, finish, aborted } = watched()
        const server = await serve({ port: 0, store: memoryStore(), agent })
        closing.push(server)
        const { path, body, headers } = sendRequest(way, newMessage(way, 'go'), stream)
        const socket = connect(server.port, '127.0.0.1')
        await once(socket, 'connect')
        const head = [`POST ${path} HTTP/1.1`, `Host: 127.0.0.1:${server.port}`, 'Content-Type: application/json']
        head.push(`A2A-Version: ${headers['a2a-version']}`, `Content-Length: ${Buffer.byteLength(body)}`)
        socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
        const id = await began
        socket.destroy()
        await once(socket, 'close')
        finish()
        const stateOf = async (): Promise<string> => {
          const response = await fetch(`${server.url}/tasks/${id}`, { headers: { 'a2a-version': '1.0' } })
          return ((await response.json()) as Task).status.state
        }
        await waitUntil(async () => (await stateOf()) === 'TASK_STATE_COMPLETED', 'the task completes')
        assert.equal(aborted(), false)
      })
    }
  }
})

describe('an agent whose task is canceled', () => {
  it('gets an aborted signal with the reason [B-110]', async () => {
    const reasons: unknown[] = []
    const agent = testAgent(async ({ signal }) => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
      reasons.push(signal.reason)
    })
    closing.push(agent)
    for (const way of requestFormats) {
      const client = agent.as(way.version, way.binding)
      const { id } = (await client.send('go', { returnImmediately: true })) as Task
      assert.equal((await client.cancel(id)).status.state, 'TASK_STATE_CANCELED', nameOf(way))
    }
    assert.equal(reasons.length, requestFormats.length)
    assert.ok(reasons.every((reason) => reason instanceof Error && /canceled/.test(reason.message)))
  })
})
