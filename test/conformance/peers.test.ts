/** What clients of older drafts and of products around the protocol send, and what they get. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { inputRequired } from '@parley/a2a'
import type { Turn } from '@parley/a2a'
import { Observable } from 'rxjs'
import { closeInMemoryServers, openInMemoryServer, newMessage, newLegacyMessage, v0_3, v1 } from './in-memory-server.ts'

after(closeInMemoryServers)

const toolsUri = 'https://parley.dev/extensions/client-tools/v1'

describe('an older client', () => {
  it('may send taskId in place of id [S2-15]', async () => {
    const server = openInMemoryServer()
    const { id } = (await server.rpc('message/send', { message: newLegacyMessage('hi') })).body.result
    assert.equal((await server.rpc('tasks/get', { taskId: id })).body.result.id, id)
  })

  it('gets errors for its envelope, its method or its message [S2-19 S2-20 S2-21 S4-6]', async () => {
    const server = openInMemoryServer()
    const post = (body: object) =>
      server.fetch('/a2a', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    for (const missing of ['jsonrpc', 'method', 'id']) {
      const { [missing]: _left, ...rest } = { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 'x' } } as any
      const { error } = (await post(rest)).body
      assert.equal(error.code, -32_600, missing)
      assert.match(JSON.stringify(error), new RegExp(missing))
    }
    assert.match(JSON.stringify((await server.rpc('tasks/dream', {})).body.error), /tasks\/dream/)
    const wrong = (await server.rpc('message/send', { message: { kind: 'task' } })).body.error
    assert.equal(wrong.code, -32_602)
    assert.match(JSON.stringify((await server.rpc('message/send', {})).body.error), /message/)
  })

  it('continues a task with the result of its tool alone [S2-14]', async () => {
    const server = openInMemoryServer({
      agent: ({ message, task }: Turn) => {
        const [part] = message.parts
        if (part !== undefined && 'data' in part) return `The tool says ${JSON.stringify(part.data)} (${task.id})`
        return {
          state: 'TASK_STATE_INPUT_REQUIRED',
          message: {
            parts: [{ text: 'Where are you?' }],
            metadata: {
              [toolsUri]: { inputRequest: { kind: 'input-request', requestId: 'call-1', prompt: 'Where?' } },
            },
          },
        }
      },
    })
    const asked = (await server.rpc('message/send', { message: newLegacyMessage('weather') }, v0_3)).body.result
    assert.equal(asked.status.state, 'input-required')
    const parts = [{ kind: 'tool-result', toolUseId: 'call-1', result: 'Lisbon' }]
    const answered = await server.rpc(
      'message/send',
      { message: newLegacyMessage('', { parts, referenceTaskIds: [asked.id] }) },
      v0_3,
    )
    assert.equal(answered.body.result.id, asked.id)
    assert.equal(answered.body.result.status.state, 'completed')
    assert.match(JSON.stringify(answered.body.result.artifacts), /Lisbon/)
  })

  it('receives comments while a stream is idle [S2-26]', async () => {
    const server = openInMemoryServer({
      keepAliveMs: 10,
      openAfterMs: 0,
      agent: ({ signal }: Turn) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(null))),
    })
    const gone = new AbortController()
    const response = await server.handler.fetch(
      new Request('http://localhost/a2a', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'message/stream',
          params: { message: newLegacyMessage('hi') },
        }),
        signal: gone.signal,
      }),
    )
    let received = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.body!) {
      received += decoder.decode(chunk as Uint8Array, { stream: true })
      if (/^:/m.test(received)) break
    }
    gone.abort()
    assert.match(received, /^data:.*\n\n[^]*^:/m)
  })
})

describe('a part', () => {
  it('that the agent does not accept is refused [S4-10 B-70]', async () => {
    const server = openInMemoryServer({ inputModes: ['text/plain'] })
    const message = newMessage('', { parts: [{ data: { rows: 1 } }] })
    assert.equal((await server.rpc('SendMessage', { message }, v1)).body.error.code, -32_005)
    const old = newLegacyMessage('', { parts: [{ kind: 'data', data: { rows: 1 } }] })
    assert.equal((await server.rpc('message/send', { message: old }, v0_3)).body.error.code, -32_005)
  })
})

describe('a webhook', () => {
  it('is refused with the same error by a send and by its own operation [T-6 B-71 B-115]', async () => {
    const server = openInMemoryServer()
    const config = { url: 'https://hooks.example.com/x' }
    const configuration = { taskPushNotificationConfig: config }
    const inline = await server.rpc('SendMessage', { message: newMessage('hi'), configuration }, v1)
    const streamed = await server.rpc('SendStreamingMessage', { message: newMessage('hi'), configuration }, v1)
    const { id } = (await server.rpc('SendMessage', { message: newMessage('hi') }, v1)).body.result.task
    const created = await server.rpc('CreateTaskPushNotificationConfig', { taskId: id, ...config }, v1)
    const codes = [inline, streamed, created].map((answer) => answer.body.error.code)
    assert.deepEqual(codes, [-32_003, -32_003, -32_003])
  })
})

describe('an agent', () => {
  it('may be an observable of RxJS [S2-33]', async () => {
    const server = openInMemoryServer({
      agent: () =>
        new Observable<string>((subscriber) => {
          subscriber.next('one ')
          subscriber.next('two')
          subscriber.complete()
        }),
    })
    const { task } = (await server.rpc('SendMessage', { message: newMessage('count') }, v1)).body.result
    assert.equal(task.artifacts[0].parts[0].text, 'one two')
  })

  it('asks which artifact is meant, and reads it from the metadata of a part [T-4]', async () => {
    const server = openInMemoryServer({
      async agent(turn: Turn) {
        const named = turn.message.parts[0]?.metadata?.['artifactId']
        return named === undefined ? inputRequired('Which of the two boats?') : `Painted ${JSON.stringify(named)}`
      },
    })
    const asked = (await server.rpc('SendMessage', { message: newMessage('paint the boat') }, v1)).body.result.task
    assert.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED')
    const parts = [{ text: 'that one', metadata: { artifactId: 'boat-2', taskId: asked.id } }]
    const done = await server.rpc('SendMessage', { message: newMessage('', { taskId: asked.id, parts }) }, v1)
    assert.equal(done.body.result.task.artifacts[0].parts[0].text, 'Painted "boat-2"')
  })
})
