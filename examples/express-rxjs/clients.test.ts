/** Both clients of the draft, and a client of today, against the application. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, it } from 'node:test'
import { connect } from '@parley/a2a/client'
import { createApp } from './app.ts'
import { resubscribe, streamMessage } from './jsonrpc-client.ts'
import { A2AClientImpl } from './rest-client.ts'

const { app, close } = createApp()
const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
after(async () => {
  await close()
  server.close()
})

const say = (text: string) => ({
  kind: 'message',
  role: 'user',
  parts: [{ kind: 'text', text }],
  messageId: crypto.randomUUID(),
})
const textOf = (events: any[]) => events.map(({ part }) => part?.text ?? '').join('')
const client = new A2AClientImpl(url, 'token-123')

it('streams over REST: the task, its states, its chunks, and the final status', async () => {
  const events = await Array.fromAsync(client.streamMessage({ message: say('sales of Q4') }))
  assert.equal(events[0].kind, 'task')
  assert.ok(events.some(({ status }) => status?.message?.parts[0].text === 'Processing...'))
  assert.equal(textOf(events), 'You asked: sales of Q4')
  assert.deepEqual([events.at(-1).status.state, events.at(-1).final], ['completed', true])
  assert.match(events.at(-1).metadata.traceId, /^[\da-f]{32}$/)
})

it('sends and gets the finished task', async () => {
  const task = await client.sendMessage({ message: say('sales') })
  assert.deepEqual([task.kind, task.status.state], ['task', 'completed'])
  assert.equal(task.artifacts[0].parts[0].text, 'You asked: sales')
})

it('streams over JSON-RPC, and reads on after a disconnection', async () => {
  const seen: any[] = []
  for await (const event of streamMessage(url, say('sales of the last quarter'))) {
    seen.push(event)
    if (event.kind === 'artifact-update') break
  }
  // The rest of the task, from its current state.
  const rest = await Array.fromAsync(resubscribe(url, seen[0].id))
  assert.equal(textOf(rest), 'You asked: sales of the last quarter')
  assert.deepEqual([rest.at(-1).status.state, rest.at(-1).final], ['completed', true])
})

it('reports a stream that cannot start', async () => {
  const lost = { ...say('Hello'), taskId: 'no-such-task' }
  await assert.rejects(client.streamMessage({ message: lost }).next(), { message: 'HTTP 404: Task not found' })
  await assert.rejects(streamMessage(url, lost).next(), { message: 'Task not found' })
})

it('serves clients of today, and leaves the other routes to the application', async () => {
  const agent = await connect(url)
  assert.equal(await agent.ask('sales'), 'You asked: sales')
  assert.equal(await (await fetch(url)).text(), 'The application')
})
