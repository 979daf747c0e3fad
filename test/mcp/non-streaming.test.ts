/** Agents that do not stream can be awaited, answered and stopped like others. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { openMcpTestClient, textOf } from './mcp-clients.ts'
import type { McpTarget } from './mcp-clients.ts'
import { openMcpTestHub } from './mcp-test-hub.ts'

const path = join(import.meta.dirname, 'non-streaming-agent.ts')
const { mcp, url } = await openMcpTestHub({}, { plodder: { kind: 'module', path, export: 'plodder' } })
const places: readonly (readonly [string, McpTarget])[] = [
  ['HTTP', { url: mcp }],
  ['stdio [full]', { args: ['--agent', `${url}/a2a/plodder`] }],
]

for (const [transport, where] of places) {
  describe(`an agent that does not stream, over ${transport}`, () => {
    it('answers, asks and gets answers', async () => {
      const caller = await openMcpTestClient('2025-11-25', where, {
        answer: () => ({ action: 'accept', content: { answer: 'Rome' } }),
      })
      const say = (message: string, more: object = {}) =>
        caller.call('send_message', { agent: 'plodder', message, ...more })
      const [first] = (await caller.call('list_agents', { query: 'plodder' })).structuredContent.agents
      assert.equal(first.description, 'Does not stream')
      assert.equal(textOf(await say('steps 2')), 'walked')
      assert.equal(textOf(await say('reply hello')), 'hello')
      assert.equal(textOf(await say('ask')), 'Rome it is')
    })

    it('is awaited up to the given time, polled and stopped', async () => {
      const caller = await openMcpTestClient('2025-11-25', where)
      const begun = await caller.call('send_message', { agent: 'plodder', message: 'long', waitSeconds: 0.5 })
      const { taskId, state } = begun.structuredContent
      assert.ok(['submitted', 'working'].includes(state))
      const waiting = caller.call('get_task', { agent: 'plodder', taskId, waitSeconds: 30 })
      await caller.call('cancel_task', { agent: 'plodder', taskId })
      assert.equal((await waiting).structuredContent.state, 'canceled')
    })

    it('is stopped with the call', async () => {
      const caller = await openMcpTestClient('2025-11-25', where)
      const stop = new AbortController()
      const named = Promise.withResolvers<void>()
      const contextId = randomUUID()
      const calling = caller.call(
        'send_message',
        { agent: 'plodder', message: 'long', contextId },
        { signal: stop.signal, onprogress: () => named.resolve() },
      )
      await named.promise
      stop.abort()
      await assert.rejects(calling)
      for (let state = ''; state !== 'TASK_STATE_CANCELED';) {
        const response = await fetch(`${url}/a2a/plodder/tasks?contextId=${contextId}`, {
          headers: { 'A2A-Version': '1.0' },
        })
        const { tasks } = (await response.json()) as { tasks: { status: { state: string } }[] }
        state = tasks[0]?.status.state ?? ''
      }
    })
  })
}
