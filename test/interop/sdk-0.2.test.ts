/** The published client of 0.2 (JSON-RPC only) against our server. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Message, MessageSendParams, Task } from 'a2a-sdk-0.2'
import { A2AClient } from 'a2a-sdk-0.2/client'
import { openInteropServer, readUntil } from './interop-server.ts'
import type { InteropServer } from './interop-server.ts'

function messageParams(text: string, more: Partial<Message> = {}): MessageSendParams {
  const messageId = crypto.randomUUID()
  return { message: { kind: 'message', messageId, role: 'user', parts: [{ kind: 'text', text }], ...more } }
}

describe('the client of @a2a-js/sdk 0.2.5', { timeout: 120_000 }, () => {
  let server: InteropServer
  let client: A2AClient
  before(async () => {
    server = await openInteropServer()
    client = new A2AClient(server.url)
  })
  after(() => server.close())

  async function send<T extends Task | Message = Task>(params: MessageSendParams): Promise<T> {
    const response = await client.sendMessage(params)
    assert.ok('result' in response, JSON.stringify(response))
    return response.result as T
  }

  it('finds the card at agent.json and its endpoint in it [B-14 B-19]', async () => {
    const card = await client.getAgentCard()
    assert.deepEqual([card.name, card.version], ['Actor', '2.1.0'])
    assert.equal(card.url, `${server.url}/a2a`)
    assert.equal(card.capabilities.streaming, true)
    assert.deepEqual(card.securitySchemes, { token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } })
    assert.deepEqual(card.security, [{ token: [] }])
    assert.equal(card.skills[0]?.id, 'act')
  })

  it('sends and gets a finished task [B-63 B-66]', async () => {
    const task = await send(messageParams('say hello there'))
    assert.deepEqual([task.kind, task.status.state], ['task', 'completed'])
    assert.deepEqual(task.artifacts, [{ artifactId: 'answer', parts: [{ kind: 'text', text: 'hello there ' }] }])
    assert.equal(task.history?.[0]?.kind, 'message')
  })

  it('sends and gets a message [B-49]', async () => {
    const message = await send<Message>(messageParams('reply hi back'))
    assert.deepEqual(
      [message.kind, message.role, message.parts],
      ['message', 'agent', [{ kind: 'text', text: 'hi back' }]],
    )
  })

  it('sends without blocking, reads, and finds the end [B-64 B-66 B-73]', async () => {
    const begun = await send({
      ...messageParams('hold a'),
      configuration: { acceptedOutputModes: [], blocking: false },
    })
    assert.match(begun.status.state, /submitted|working/)
    server.release('a')
    for await (const event of client.resubscribeTask({ id: begun.id })) void event
    const read = await client.getTask({ id: begun.id, historyLength: 0 })
    assert.ok('result' in read)
    assert.deepEqual([read.result.status.state, read.result.history], ['completed', undefined])
  })

  it('streams from the task to the final status [B-89 B-97 S2-6 S2-8]', async () => {
    const events = await Array.fromAsync(client.sendMessageStream(messageParams('say one two')))
    assert.deepEqual(
      events.map(({ kind }) => kind),
      ['task', 'status-update', 'artifact-update', 'artifact-update', 'status-update'],
    )
    const last = events.at(-1)
    assert.ok(last?.kind === 'status-update')
    assert.deepEqual([last.status.state, last.final], ['completed', true])
  })

  it('streams a message as the only event [B-89]', async () => {
    const events = await Array.fromAsync(client.sendMessageStream(messageParams('reply hi')))
    assert.deepEqual(
      events.map(({ kind }) => kind),
      ['message'],
    )
  })

  it('carries every kind of part in both directions; values that are not objects arrive wrapped in 0.2 [J-5 J-6]', async () => {
    const parts: Message['parts'] = [
      { kind: 'text', text: 'parts', metadata: { n: 1 } },
      { kind: 'file', file: { bytes: 'AQL/', name: 'b', mimeType: 'image/png' } },
      { kind: 'data', data: { deep: { er: [1] } } },
    ]
    const { artifacts = [] } = await send(messageParams('', { parts }))
    assert.deepEqual(
      artifacts.map((artifact) => artifact.parts),
      [
        [{ kind: 'data', data: { rows: [1, 2.5], ok: true } }],
        [{ kind: 'data', data: { value: ['a', null] }, metadata: { data_part_compat: true } }],
        [{ kind: 'file', file: { name: 'a.bin', mimeType: 'application/x-a', bytes: 'AQL/' } }],
        [{ kind: 'file', file: { name: 'a.pdf', mimeType: 'application/pdf', uri: 'https://example.com/a.pdf' } }],
        parts,
      ],
    )
  })

  it('answers a question, by send and by stream [B-91 B-97 B-102]', async () => {
    const asked = await send(messageParams('ask'))
    assert.equal(asked.status.state, 'input-required')
    assert.deepEqual(asked.status.message?.parts, [{ kind: 'text', text: 'Which city?' }])
    const done = await send(messageParams('Oslo', { taskId: asked.id, contextId: asked.contextId }))
    assert.deepEqual([done.id, done.status.state], [asked.id, 'completed'])

    const question = await Array.fromAsync(client.sendMessageStream(messageParams('ask')))
    const last = question.at(-1)
    assert.ok(last?.kind === 'status-update')
    assert.deepEqual([last.status.state, last.final], ['input-required', true])
    const answer = await Array.fromAsync(client.sendMessageStream(messageParams('Rome', { taskId: last.taskId })))
    assert.ok(answer[0]?.kind === 'task' && answer[0].id === last.taskId)
    assert.ok(answer.at(-1)?.kind === 'status-update')
  })

  it('cancels a running task, and sees it on its stream [B-110 B-114]', async () => {
    const stream = client.sendMessageStream(messageParams('hold forever'))
    const seen = await readUntil(stream, ({ kind }) => kind === 'artifact-update')
    const id = seen[0]?.kind === 'task' ? seen[0].id : ''
    const canceled = await client.cancelTask({ id })
    assert.ok('result' in canceled && canceled.result.status.state === 'canceled')
    const rest = await Array.fromAsync(stream)
    const last = rest.at(-1)
    assert.ok(last?.kind === 'status-update' && last.status.state === 'canceled' && last.final)
  })

  it('resubscribes to a running task, and to a finished one [B-105 B-108]', async () => {
    const stream = client.sendMessageStream(messageParams('hold again'))
    const seen = await readUntil(stream, ({ kind }) => kind === 'artifact-update')
    const id = seen[0]?.kind === 'task' ? seen[0].id : ''
    await stream.return()
    const second = client.resubscribeTask({ id })
    const [snapshot] = await readUntil(second, () => true)
    assert.ok(snapshot?.kind === 'task' && snapshot.status.state === 'working')
    assert.deepEqual(snapshot.artifacts?.[0]?.parts, [{ kind: 'text', text: 'held ' }])
    server.release('again')
    const rest = await Array.fromAsync(second)
    assert.ok(rest.at(-1)?.kind === 'status-update')
    const ended = await Array.fromAsync(client.resubscribeTask({ id }))
    assert.ok(ended.length === 1 && ended[0]?.kind === 'task' && ended[0].status.state === 'completed')
  })

  it('gets errors as JSON-RPC errors with their codes [B-54 B-111 B-43 B-38]', async () => {
    const code = (response: object) => ('error' in response ? (response.error as { code: number }).code : undefined)
    const { id } = await send(messageParams('say done'))
    assert.equal(code(await client.getTask({ id: 'nowhere' })), -32_001)
    assert.equal(code(await client.cancelTask({ id })), -32_002)
    assert.equal(code(await client.sendMessage(messageParams('more', { taskId: id }))), -32_004)
    assert.equal(code(await client.sendMessage(messageParams('', { parts: [] }))), -32_602)
    assert.equal(code(await client.getTaskPushNotificationConfig({ id })), -32_003)
  })

  it('gets the error of a resubscription as an event, and reports any other refusal of a stream as a wrong content type [F-7 B-104]', async (test) => {
    test.mock.method(console, 'error', () => {})
    await assert.rejects(Array.fromAsync(client.resubscribeTask({ id: 'nowhere' })), /Task not found \(Code: -32001\)/)
    const { id } = await send(messageParams('say done'))
    const stream = client.sendMessageStream(messageParams('more', { taskId: id }))
    await assert.rejects(Array.fromAsync(stream), /Content-Type for SSE stream/)
  })
})
