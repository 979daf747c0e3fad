/**
 * The published client of 1.x against our server, over all three bindings: in its own version, and in its
 * 0.3 mode for servers without 1.0.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { SendMessageRequest, StreamResponse, Task, TaskState } from 'a2a-sdk-1'
import type { Message } from 'a2a-sdk-1'
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
  ServiceParameters,
  withA2AExtensions,
} from 'a2a-sdk-1/client'
import type { Client } from 'a2a-sdk-1/client'
import { GrpcTransportFactory } from 'a2a-sdk-1/client/grpc'
import {
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from 'a2a-sdk-1/errors'
import { mood, openInteropServer, readUntil } from './interop-server.ts'
import type { InteropServer } from './interop-server.ts'

type Mode = '1.0' | '0.3'

function sendRequest(text: string, message: object = {}, more: object = {}): SendMessageRequest {
  const said = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...message }
  return SendMessageRequest.fromJSON({ message: said, ...more })
}

function connect(url: string, transport: string, mode: Mode): Promise<Client> {
  const compat = { legacyCompat: { enabled: mode === '0.3' } }
  const transports = [
    new JsonRpcTransportFactory(compat),
    new RestTransportFactory(compat),
    new GrpcTransportFactory(compat),
  ]
  const cardResolver = new DefaultAgentCardResolver(compat)
  return new ClientFactory({ transports, cardResolver, preferredTransports: [transport] }).createFromUrl(url)
}

/** As JSON of 1.0, which reads better than the client's own objects. */
const plain = (event: StreamResponse): any => StreamResponse.toJSON(event)
const plainTask = (result: Task | Message): any => {
  assert.ok('status' in result, 'a message instead of a task')
  return Task.toJSON(result)
}
const textsOf = (task: any): string[] =>
  (task.artifacts ?? []).map(({ parts }: any) => parts.map(({ text = '' }: any) => text).join(''))

for (const mode of ['1.0', '0.3'] as const) {
  for (const transport of ['JSONRPC', 'HTTP+JSON', 'GRPC']) {
    describe(`the client of @a2a-js/sdk 1.3.0 in ${mode} over ${transport}`, { timeout: 120_000 }, () => {
      let server: InteropServer
      let client: Client
      before(async () => {
        server = await openInteropServer({
          grpcPort: 0,
          ...(mode === '0.3' ? { versions: ['0.3', '0.2'] as const } : {}),
        })
        client = await connect(server.url, transport, mode)
      })
      after(() => server.close())

      it('reads the card and selects this transport and version from it [B-14 B-16 B-8]', async () => {
        assert.deepEqual([client.transport.protocolName, client.protocolVersion], [transport, mode])
        const card = await client.getAgentCard()
        assert.deepEqual([card.name, card.version, card.skills[0]?.id], ['Actor', '2.1.0', 'act'])
        assert.ok(card.supportedInterfaces[0]?.protocolVersion.startsWith(mode))
        assert.equal(card.capabilities?.streaming, true)
      })

      it('sends and gets a finished task [B-63]', async () => {
        const task = plainTask(await client.sendMessage(sendRequest('say hello there')))
        assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
        assert.deepEqual(textsOf(task), ['hello there '])
        assert.deepEqual([task.history[0].role, task.history[0].taskId], ['ROLE_USER', task.id])
      })

      it('sends and gets a message [B-49]', async () => {
        const message = await client.sendMessage(sendRequest('reply hi back'))
        assert.ok('parts' in message)
        assert.deepEqual(message.parts[0]?.content, { $case: 'text', value: 'hi back' })
        assert.ok(message.contextId !== '' && message.taskId === '')
      })

      it(
        mode === '0.3' && transport === 'HTTP+JSON'
          ? 'polls, but drops `blocking: false` as the default of its format, so that the server waits [B-66]'
          : 'polls: sends without waiting and reads until the end [B-64 B-66 B-73]',
        async () => {
          const isSent = !(mode === '0.3' && transport === 'HTTP+JSON')
          if (!isSent) server.release('a')
          const request = sendRequest('hold a', {}, { configuration: { returnImmediately: true } })
          const begun = plainTask(await client.sendMessage(request))
          assert.match(begun.status.state, isSent ? /SUBMITTED|WORKING/ : /COMPLETED/)
          server.release('a')
          const read = async () => plainTask(await client.getTask({ tenant: '', id: begun.id, historyLength: 1 }))
          let task = await read()
          while (task.status.state !== 'TASK_STATE_COMPLETED') task = await read()
          assert.deepEqual([textsOf(task), task.history.length], [['held released'], 1])
        },
      )

      it('streams from the task to the last status, chunk by chunk [B-89 B-90 B-93]', async () => {
        const events = (await Array.fromAsync(client.sendMessageStream(sendRequest('say one two')))).map(plain)
        assert.deepEqual(
          events.map((event) => Object.keys(event as object)[0]),
          ['task', 'statusUpdate', 'artifactUpdate', 'artifactUpdate', 'statusUpdate'],
        )
        assert.equal(events.at(-1).statusUpdate.status.state, 'TASK_STATE_COMPLETED')
        assert.equal(events[3].artifactUpdate.lastChunk, true)
      })

      it('streams a message as the only event [B-89]', async () => {
        const events = (await Array.fromAsync(client.sendMessageStream(sendRequest('reply hi')))).map(plain)
        assert.deepEqual(
          events.map((event) => Object.keys(event as object)),
          [['message']],
        )
      })

      const losesMarks = mode === '0.3' && transport !== 'JSONRPC'
      const partsName = losesMarks
        ? 'carries every kind of part both ways, but loses the names of files and the metadata of parts, and with it that data was wrapped [J-4 J-5]'
        : 'carries every kind of part both ways [J-4 J-5 J-6]'
      it(partsName, async () => {
        const parts = [
          { text: 'parts' },
          { raw: 'AQL/', filename: 'b', mediaType: 'image/png' },
          { url: 'https://example.com/c', filename: 'c', mediaType: 'image/png' },
          { data: { deep: { er: [1] } } },
        ]
        const { artifacts } = plainTask(await client.sendMessage(sendRequest('', { parts })))
        assert.deepEqual(bare(artifacts[0].parts), [{ data: { rows: [1, 2.5], ok: true } }])
        assert.deepEqual(bare(artifacts[1].parts), [{ data: losesMarks ? { value: ['a', null] } : ['a', null] }])
        const known = losesMarks ? nameless : bare
        const own = { raw: 'AQL/', filename: 'a.bin', mediaType: 'application/x-a' }
        assert.deepEqual(bare(artifacts[2].parts), known([own]))
        const pdf = { url: 'https://example.com/a.pdf', filename: 'a.pdf', mediaType: 'application/pdf' }
        assert.deepEqual(bare(artifacts[3].parts), known([pdf]))
        assert.deepEqual(bare(artifacts[4].parts), known(parts))
      })

      it('answers a question, by send and by stream [B-91 B-102 T-5]', async () => {
        const asked = plainTask(await client.sendMessage(sendRequest('ask')))
        assert.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED')
        assert.equal(asked.status.message.parts[0].text, 'Which city?')
        const { id: taskId, contextId } = asked
        const done = plainTask(await client.sendMessage(sendRequest('Oslo', { taskId, contextId })))
        assert.deepEqual([done.id, textsOf(done)], [taskId, ['Weather in Oslo']])

        const question = (await Array.fromAsync(client.sendMessageStream(sendRequest('ask')))).map(plain)
        const { statusUpdate } = question.at(-1)
        assert.equal(statusUpdate.status.state, 'TASK_STATE_INPUT_REQUIRED')
        const reply = sendRequest('Rome', { taskId: statusUpdate.taskId })
        const answer = (await Array.fromAsync(client.sendMessageStream(reply))).map(plain)
        assert.equal(answer[0].task.id, statusUpdate.taskId)
        assert.equal(answer.at(-1).statusUpdate.status.state, 'TASK_STATE_COMPLETED')
      })

      it('cancels a running task, and sees it on its stream [B-110 B-114]', async () => {
        const stream = client.sendMessageStream(sendRequest('hold forever'))
        const seen = await readUntil(stream, ({ payload }) => payload?.$case === 'artifactUpdate')
        const { id } = plain(seen[0]!).task
        const canceled = await client.cancelTask({ tenant: '', id, metadata: undefined })
        assert.equal(canceled.status?.state, TaskState.TASK_STATE_CANCELED)
        const rest = (await Array.fromAsync(stream)).map(plain)
        assert.equal(rest.at(-1).statusUpdate.status.state, 'TASK_STATE_CANCELED')
      })

      it('resubscribes to a running task [B-105 F-9]', async () => {
        const stream = client.sendMessageStream(sendRequest('hold again'))
        const seen = await readUntil(stream, ({ payload }) => payload?.$case === 'artifactUpdate')
        const { id } = plain(seen[0]!).task
        await stream.return()
        const second = client.resubscribeTask({ tenant: '', id })
        const [snapshot] = await readUntil(second, () => true)
        const { task } = plain(snapshot!)
        assert.deepEqual([task.status.state, textsOf(task)], ['TASK_STATE_WORKING', ['held ']])
        server.release('again')
        const rest = (await Array.fromAsync(second)).map(plain)
        assert.equal(rest.at(-1).statusUpdate.status.state, 'TASK_STATE_COMPLETED')
      })

      it(
        mode === '1.0'
          ? 'is refused a subscription to a finished task [B-106]'
          : 'is shown a finished task once [B-108]',
        async () => {
          const { id } = plainTask(await client.sendMessage(sendRequest('say done')))
          const opening = Array.fromAsync(client.resubscribeTask({ tenant: '', id }))
          if (mode === '1.0') await assert.rejects(opening, UnsupportedOperationError)
          else
            assert.deepEqual(
              (await opening).map((event) => Object.keys(plain(event) as object)),
              [['task']],
            )
        },
      )

      it(
        mode === '1.0'
          ? 'lists tasks by context and state, page by page [B-78 B-79 B-82 B-84 B-85]'
          : 'knows itself that 0.3 cannot list tasks [B-87]',
        async () => {
          const contextId = `list-${transport.length}`
          const list = (pageToken: string) =>
            client.listTasks({
              tenant: '',
              contextId,
              status: TaskState.TASK_STATE_COMPLETED,
              pageSize: 2,
              pageToken,
              historyLength: 0,
              statusTimestampAfter: undefined,
              includeArtifacts: true,
            })
          if (mode === '0.3') {
            // Its two halves use different messages, and neither sends a request.
            await assert.rejects(list(''), /Method not found|not supported|UnsupportedOperation/i)
            return
          }
          const made: string[] = []
          for (const n of [1, 2, 3])
            made.unshift(plainTask(await client.sendMessage(sendRequest(`say ${n}`, { contextId }))).id)
          const first = await list('')
          assert.deepEqual([first.totalSize, first.pageSize, first.tasks.length], [3, 2, 2])
          const second = await list(first.nextPageToken)
          assert.equal(second.nextPageToken, '')
          assert.deepEqual(
            [...first.tasks, ...second.tasks].map(({ id }) => id),
            made,
          )
          assert.ok(first.tasks.every(({ artifacts, history }) => artifacts.length === 1 && history.length === 0))
        },
      )

      it('gets its extension confirmed, and rejected and failed tasks [B-143 B-50 B-51]', async () => {
        const options = { serviceParameters: ServiceParameters.create(withA2AExtensions(mood)) }
        assert.deepEqual(textsOf(plainTask(await client.sendMessage(sendRequest('mood'), options))), ['happy'])
        assert.deepEqual(textsOf(plainTask(await client.sendMessage(sendRequest('mood')))), ['none'])
        const rejected = plainTask(await client.sendMessage(sendRequest('reject')))
        const failed = plainTask(await client.sendMessage(sendRequest('throw')))
        assert.deepEqual([rejected.status.state, failed.status.state], ['TASK_STATE_REJECTED', 'TASK_STATE_FAILED'])
      })

      it('gets errors as its own classes [B-54 B-111 B-43 B-115 B-38]', async () => {
        const { id } = plainTask(await client.sendMessage(sendRequest('say done')))
        await assert.rejects(client.getTask({ tenant: '', id: 'nowhere', historyLength: undefined }), TaskNotFoundError)
        await assert.rejects(client.cancelTask({ tenant: '', id, metadata: undefined }), TaskNotCancelableError)
        await assert.rejects(client.sendMessage(sendRequest('more', { taskId: id })), UnsupportedOperationError)
        const hook = {
          tenant: '',
          id: '',
          taskId: id,
          url: 'https://example.com/hook',
          token: '',
          authentication: undefined,
        }
        await assert.rejects(client.transport.createTaskPushNotificationConfig(hook), PushNotificationNotSupportedError)
        await assert.rejects(client.sendMessage(sendRequest('hi', { messageId: '' })), (error: Error) => {
          assert.match(error.message, /message\.messageId/)
          return mode === '0.3' || error instanceof RequestMalformedError
        })
      })

      it('gets an error at the start of a stream [F-7 B-104 B-106]', async () => {
        await assert.rejects(Array.fromAsync(client.resubscribeTask({ tenant: '', id: 'nowhere' })), (error: Error) =>
          [error, error.cause].some((reason) => reason instanceof TaskNotFoundError),
        )
      })
    })
  }
}

/** In its 0.3 mode it fills in omitted fields. */
function bare(parts: readonly any[]): object[] {
  return parts.map(({ metadata, ...part }) =>
    metadata === undefined || Object.keys(metadata as object).length === 0 ? part : { ...part, metadata },
  )
}

function nameless(parts: readonly any[]): object[] {
  return parts.map(({ filename: _, ...part }) => part)
}
