/** The SDK's entry points: requests of all versions over HTTP, gRPC, page tokens, cursors, and webhooks that are received. */
import assert from 'node:assert/strict'
import { connect as connectHttp2 } from 'node:http2'
import { memoryStore } from '@parley/a2a'
import { createHandler, webhook } from '@parley/a2a/server'
import { createGrpcServer } from '@parley/a2a/grpc'
import { encodeProtobuf } from '../../packages/a2a/src/bindings/grpc/codec.ts'
import { rpcMethodsOf } from '../../packages/a2a/src/bindings/grpc/service.ts'
import { versions } from '../../packages/a2a/src/versions/index.ts'
import { checkAnswer, internalsIn } from './answers/check-answer.ts'
import { goldenPayloads } from './golden-payloads.ts'
import { httpInput, readHttpInput } from './guided/http-input.ts'
import { bytesOfText } from './guided/target.ts'
import type { FuzzTarget } from './guided/target.ts'
import type { FuzzServer } from './fuzz-server.ts'
import { openFuzzServer } from './fuzz-server.ts'
import type { ServerVariant } from './requests/request-plans.ts'
import { samples } from './requests/samples.ts'
import { protocolWords, words } from './vocabulary.ts'

const serverVariants: readonly ServerVariant[] = ['open', 'kept', 'strict', 'locked']
/** A server that runs for longer prunes the tasks that the requests name. */
const requestsPerServer = 800

interface OpenServers {
  served(variant: ServerVariant): Promise<FuzzServer>
  close(): Promise<void>
}

function openServers(): OpenServers {
  const open = new Map<ServerVariant, { readonly served: Promise<FuzzServer>; sent: number }>()
  return {
    async served(variant) {
      const known = open.get(variant)
      if (known !== undefined && known.sent < requestsPerServer) {
        known.sent += 1
        return known.served
      }
      const served = openFuzzServer(variant)
      open.set(variant, { served, sent: 1 })
      // Others of the same batch may still use the old one.
      if (known !== undefined) setTimeout(() => void known.served.then((old) => old.close()), 1_000)
      return served
    },
    async close() {
      for (const { served } of open.values()) await (await served).close()
    },
  }
}

const jsonTypes = { '1.0': 'application/a2a+json', '0.3': 'application/json', '0.2': 'application/json' } as const

function sampleInputs(): readonly Uint8Array[] {
  return samples.map(({ binding, version, method, path, payload }, index) => {
    const headers = {
      'x-variant': serverVariants[index % serverVariants.length] as string,
      'content-type': jsonTypes[version],
      'a2a-version': version,
      ...(index % 5 > 0 ? { authorization: 'Bearer ada' } : {}),
      ...(index % 7 === 0 ? { 'last-event-id': '1' } : {}),
    }
    const body = binding === 'jsonrpc' ? { jsonrpc: '2.0', id: 1, method, params: payload } : payload
    return httpInput(
      binding === 'jsonrpc' ? 'POST' : method,
      path,
      headers,
      body === undefined ? '' : JSON.stringify(body),
    )
  })
}

const headerWords = [
  'a2a-version: ',
  'last-event-id: ',
  'a2a-extensions: ',
  'accept: ',
  'if-none-match: ',
  'origin: ',
  'authorization: Bearer ada',
]
const pathWords = [
  '/tasks',
  '/v1',
  '/message:send',
  '/message:stream',
  ':cancel',
  ':subscribe',
  '/pushNotificationConfigs',
  '/.well-known/agent-card.json',
  '/a2a',
  '/extendedAgentCard',
  '?',
  '&',
  '=',
  '%',
]

/** Both HTTP bindings of every version, checked by the rules of the protocol. */
const requests: FuzzTarget = {
  name: 'requests',
  format: 'http',
  weight: 6,
  dictionary: [...words, ...headerWords, ...pathWords],
  seeds: sampleInputs,
  async open() {
    const open = openServers()
    return {
      async run(input) {
        const request = readHttpInput(input)
        const wanted = request.headers.find(([name]) => name === 'x-variant')?.[1] as ServerVariant
        const served = await open.served(serverVariants.includes(wanted) ? wanted : 'open')
        const { sent, got } = await served.exchangeInput(request)
        const { complaints } = checkAnswer(sent, got)
        if (complaints.length > 0) {
          const logged = JSON.stringify(served.logged.at(-1), (_, value: unknown) =>
            value instanceof Error ? value.stack : value,
          )
          assert.fail(`${complaints.join('; ')}\n${got.status} ${got.body.slice(0, 400)}\n${logged ?? ''}`)
        }
      },
      close: open.close,
    }
  },
}

/** Every value of a page token or a cursor is refused by field, or is valid. */
function oneValue(
  name: string,
  seeds: readonly string[],
  dictionary: readonly string[],
  inputOf: (text: string) => Uint8Array,
): FuzzTarget {
  return {
    name,
    format: 'text',
    weight: 1,
    dictionary,
    seeds: () => seeds.map(bytesOfText),
    async open() {
      const open = openServers()
      return {
        async run(input) {
          const text = Buffer.from(input).toString('latin1')
          const { sent, got } = await (await open.served('kept')).exchangeInput(readHttpInput(inputOf(text)))
          const { complaints } = checkAnswer(sent, got)
          assert.deepEqual(complaints, [], got.body.slice(0, 400))
        },
        close: open.close,
      }
    },
  }
}

const pageToken = oneValue(
  'page-token',
  ['~page~', 'm5x.id.sig', '~page~x', '..', ''],
  ['.', '~page~', '~done~', '%', ...words],
  (text) => httpInput('GET', `/tasks?pageSize=2&pageToken=${encodeURIComponent(text)}`, { 'a2a-version': '1.0' }),
)

const cursor = oneValue(
  'cursor',
  ['0', '1', '999', '-1', '1.5', '9007199254740993', 'abc', ''],
  ['0', '1', 'e', '.', '-', '+', 'x', ' ', ','],
  (text) =>
    httpInput('GET', '/v1/tasks/~done~:subscribe', {
      'a2a-version': '0.3',
      'last-event-id': text.replaceAll('\n', ' '),
    }),
)

const taskUpdate = {
  statusUpdate: { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } },
}

/** Notifications from unknown senders. */
const webhookTarget: FuzzTarget = {
  name: 'webhook',
  format: 'http',
  weight: 1,
  dictionary: [...words, 'x-a2a-notification-token: secret', 'a2a-version: '],
  seeds: () => [
    httpInput(
      'POST',
      '/',
      { 'content-type': 'application/json', 'x-a2a-notification-token': 'secret' },
      JSON.stringify(taskUpdate),
    ),
    httpInput(
      'POST',
      '/',
      { 'content-type': 'application/json', 'x-a2a-notification-token': 'secret', 'a2a-version': '0.3' },
      JSON.stringify({
        id: 't',
        contextId: 'c',
        kind: 'task',
        status: { state: 'completed' },
        artifacts: [{ artifactId: 'a', parts: [{ kind: 'text', text: 'x' }] }],
      }),
    ),
    httpInput('GET', '/?validationToken=x', {}),
  ],
  async open() {
    const silent = { debug() {}, info() {}, warn() {}, error() {} }
    const hook = webhook({ token: 'secret', answerChallenges: true, log: silent })
    hook.handle(async () => {})
    return {
      async run(input) {
        const { method, path, headers, body } = readHttpInput(input)
        const url = new URL(`http://hook.test${path.startsWith('//') ? '/' : path}`)
        const hasBody = body.length > 0 && method !== 'GET' && method !== 'HEAD'
        const response = await hook.fetch(
          new Request(url, {
            method,
            headers: headers.map(([name, value]) => [name, value]),
            ...(hasBody ? { body: Uint8Array.from(body) } : {}),
          }),
        )
        const text = await response.text()
        assert.ok(response.status < 500, `${response.status} ${text}`)
        assert.deepEqual(internalsIn(text), [])
        if (text !== '' && method !== 'GET') JSON.parse(text)
      },
    }
  },
}

const methods = versions.filter(({ id }) => id !== '0.2').flatMap((version) => [...rpcMethodsOf(version).values()])
/** The statuses that an answer may have: never UNKNOWN (2), INTERNAL (13) or DATA_LOSS (15). */
const statuses = new Set(['0', '1', '3', '4', '5', '6', '7', '8', '9', '10', '11', '12', '14', '16'])

/** Messages to a real gRPC port, framed by hand: the second byte chooses the rpc, the rest is the message. */
const grpc: FuzzTarget = {
  name: 'grpc',
  format: 'protobuf',
  weight: 2,
  dictionary: [...protocolWords, 'tasks/x'],
  seeds: () =>
    methods.flatMap(({ request, operation }, index) => {
      const payloads = goldenPayloads().filter((golden) => golden.request === operation)
      return payloads.flatMap(({ payload }) => {
        try {
          return [Buffer.concat([Uint8Array.of(0x78, index), encodeProtobuf(request, payload)])]
        } catch {
          return []
        }
      })
    }),
  async open() {
    const silent = { debug() {}, info() {}, warn() {}, error() {} }
    const handler = createHandler({
      name: 'Target',
      agent: ({ text }) => text,
      store: memoryStore(),
      limits: { bodyBytes: 1_000_000, waitMs: 50 },
      log: silent,
    })
    const server = await createGrpcServer(handler, { port: 0 })
    const session = connectHttp2(`http://127.0.0.1:${server.port}`)
    return {
      async run(input) {
        const method = methods[(input[1] ?? 0) % methods.length]!
        const { status, message } = await callGrpc(session, method.path, input.subarray(2))
        assert.ok(statuses.has(status), `${method.path} ended with ${status}: ${message}`)
        assert.deepEqual(internalsIn(message), [])
      },
      async close() {
        session.close()
        server.close()
        await handler.close()
      },
    }
  },
}

/** A stream that waits for more is closed after this time. */
const silenceMs = 25

function callGrpc(
  session: ReturnType<typeof connectHttp2>,
  path: string,
  message: Uint8Array,
): Promise<{ status: string; message: string }> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
    })
    const head = Buffer.alloc(5)
    head.writeUInt32BE(message.length, 1)
    let status = ''
    let text = ''
    const read = (headers: Readonly<Record<string, unknown>>): void => {
      status = String(headers['grpc-status'] ?? status)
      text = String(headers['grpc-message'] ?? text)
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    stream.on('response', read)
    stream.on('trailers', read)
    stream.on('data', () => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        status = '1'
        stream.close(8)
      }, silenceMs)
    })
    stream.on('error', reject)
    stream.on('close', () => {
      clearTimeout(timer)
      resolve({ status, message: decodeURIComponent(text) })
    })
    stream.end(Buffer.concat([head, message]))
  })
}

export const targets: readonly FuzzTarget[] = [requests, pageToken, cursor, webhookTarget, grpc]
