/** MCP tasks (2025-11-25), by the official client that supports them, over HTTP and over stdio. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CallToolResultSchema, CreateTaskResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { openMcpTestClient } from './mcp-clients.ts'
import type { McpTestClient, Elicitation, McpTarget } from './mcp-clients.ts'
import { openMcpTestHub } from './mcp-test-hub.ts'

const { url, mcp } = await openMcpTestHub({ mcp: { tools: 'skills' } })
const places: readonly (readonly [string, McpTarget])[] = [
  ['HTTP', { url: mcp }],
  ['stdio [full]', { args: ['--agent', `${url}/a2a/scripted`, '--tools', 'skills'] }],
]

type TaskEvent = { readonly type: string; readonly task?: any; readonly result?: any; readonly error?: any }

async function begin({ client }: McpTestClient, input: object, name = 'send_message'): Promise<any> {
  const { task } = await client.request(
    { method: 'tools/call', params: { name, arguments: input, task: { ttl: 60_000 } } },
    CreateTaskResultSchema,
  )
  return task
}

for (const [transport, where] of places) {
  describe(`a tool call as a task over ${transport}`, () => {
    let asked: Elicitation[] = []
    let opened: Promise<McpTestClient> | undefined
    const open = (): Promise<McpTestClient> =>
      (opened ??= openMcpTestClient('2025-11-25', where, {
        answer(question) {
          asked.push(question)
          return { action: 'accept', content: { answer: 'Rome' } }
        },
      }))

    it('is offered', async () => {
      const caller = await open()
      assert.deepEqual(caller.capabilities.tasks, { requests: { tools: { call: {} } }, cancel: {} })
      const tools = await caller.tools()
      const support = (name: string) => tools.find((tool) => tool.name === name).execution?.taskSupport
      assert.deepEqual(
        ['send_message', 'invoke_remote_agent', 'scripted_act', 'list_agents', 'get_task'].map(support),
        ['optional', 'optional', 'optional', undefined, undefined],
      )
    })

    it('returns at once, and has its result later', async () => {
      const { client } = await open()
      const events: TaskEvent[] = []
      const input = { name: 'send_message', arguments: { agent: 'scripted', message: 'steps 3' } }
      for await (const one of client.experimental.tasks.callToolStream(input, undefined, { task: { ttl: 60_000 } })) {
        events.push(one)
      }
      assert.equal(events[0]?.type, 'taskCreated')
      assert.equal(events[0]?.task.status, 'working')
      assert.equal(events.at(-1)?.type, 'result')
      assert.equal(events.at(-1)?.result.content[0].text, 'walked')
      assert.equal(events.at(-1)?.result.structuredContent.state, 'completed')
    })

    it('is polled, and canceled', async () => {
      const caller = await open()
      const { tasks } = caller.client.experimental
      const { taskId } = await begin(caller, { agent: 'scripted', message: 'long' })
      assert.equal((await tasks.getTask(taskId)).status, 'working')
      assert.equal((await tasks.cancelTask(taskId)).status, 'cancelled')
      const result = await tasks.getTaskResult(taskId, CallToolResultSchema)
      assert.equal(result.isError, true)
    })

    it('asks the client that waits for its result', async () => {
      const caller = await open()
      asked = []
      const { tasks } = caller.client.experimental
      const { taskId } = await begin(caller, { message: 'ask' }, 'scripted_act')
      for (let status = ''; status !== 'input_required';) ({ status } = await tasks.getTask(taskId))
      const result = await tasks.getTaskResult(taskId, CallToolResultSchema)
      assert.equal(result.content[0].text, 'Rome it is')
      assert.equal(asked[0]?.message, 'Scripted asks: Which city?')
      assert.equal((await tasks.getTask(taskId)).status, 'completed')
    })

    it('of an agent that keeps no task has ended at once', async () => {
      const caller = await open()
      const { tasks } = caller.client.experimental
      const task = await begin(caller, { agent: 'scripted', message: 'reply hello' })
      assert.match((await tasks.getTaskResult(task.taskId, CallToolResultSchema)).content[0].text, /hello/)
    })

    it('is not found if it is unknown, and rejects foreign ids', async () => {
      const { client } = await open()
      const { tasks } = client.experimental
      const made = Buffer.from(JSON.stringify({ ref: { agent: 'unknown' }, taskId: 'x' })).toString('base64url')
      const other = Buffer.from(JSON.stringify({ ref: { agent: 'scripted' }, taskId: 'x' })).toString('base64url')
      for (const id of ['nonsense', made, other, '']) {
        await assert.rejects(tasks.getTask(id))
        await assert.rejects(tasks.cancelTask(id))
        await assert.rejects(tasks.getTaskResult(id, CallToolResultSchema))
      }
    })

    it('is not started with invalid input', async () => {
      const caller = await open()
      await assert.rejects(begin(caller, { agent: 'scripted' }), /message: must be a string/)
      await assert.rejects(begin(caller, { agent: 'missing', message: 'x' }), /Unknown agent/)
    })
  })
}
