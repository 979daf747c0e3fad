/** Faults of push notifications and of credentials. */
import { allowAnonymous, anyOf, bearer } from '@parley/a2a/server'
import { answer, editCard, editDocument, editError, editResult, json, rpcError, rpcResult } from '../wire-edits.ts'
import type { Json } from '../wire-edits.ts'
import type { Fault } from '../fault.ts'
import type { Next } from '../fault-server.ts'

const create = 'CreateTaskPushNotificationConfig'
const remove = 'DeleteTaskPushNotificationConfig'

/** A webhook call with other headers or another body; with none it is lost. */
export const delivered =
  (edit: (headers: Headers, body: string) => string | undefined) =>
  async (request: Request, next: Next): Promise<Response> => {
    const headers = new Headers(request.headers)
    const body = edit(headers, await request.text())
    if (body === undefined) return new Response(null, { status: 204 })
    return next(new Request(request.url, { method: 'POST', headers, body, redirect: 'manual' }))
  }
/** Accepts a config that the agent refuses. */
const accepting = (isRefused: (url: unknown) => boolean) =>
  answer(create, (call) =>
    isRefused(call.params?.url) ? rpcResult(call, { ...call.params, id: 'accepted' }) : undefined,
  )

const tokens: Readonly<Record<string, string>> = { 'alice-token': 'alice', 'bob-token': 'bob' }
const secured = { authenticate: bearer({ verify: (token) => (token in tokens ? { id: tokens[token]! } : undefined) }) }
const withExtended = {
  ...secured,
  authenticate: anyOf(secured.authenticate, allowAnonymous()),
  extendedCard: { description: 'More' },
}

export const pushFaults: readonly Fault[] = [
  {
    check: 'push.create',
    wrong: 'a config comes back without an id',
    intercept: editResult(create, ({ id: _id, ...config }) => config),
  },
  {
    check: 'push.get',
    wrong: 'a config has another address',
    intercept: editResult('GetTaskPushNotificationConfig', (config) => ({
      ...config,
      url: 'https://example.com/other',
    })),
  },
  {
    check: 'push.get-unknown',
    wrong: 'an unknown config is an internal error',
    intercept: editError('GetTaskPushNotificationConfig', () => ({ code: -32603, message: 'internal error' })),
  },
  {
    check: 'push.list',
    wrong: 'the list is empty',
    intercept: editResult('ListTaskPushNotificationConfigs', () => ({ configs: [] })),
  },
  {
    check: 'push.unknown-task',
    wrong: 'configs of unknown tasks are accepted',
    intercept: answer(create, (call) =>
      String(call.params?.taskId).startsWith('conformance') ? rpcResult(call, call.params) : undefined,
    ),
  },
  { check: 'push.delete', wrong: 'a deleted config stays', intercept: answer(remove, (call) => rpcResult(call, {})) },
  {
    check: 'push.delete-twice',
    wrong: 'a second delete is refused',
    intercept: (() => {
      const deleted = new Set<string>()
      return answer(remove, (call) => {
        if (deleted.has(call.params?.id)) return rpcError(call, -32001)
        deleted.add(call.params?.id)
        return undefined
      })
    })(),
  },
  {
    check: 'push.secrets',
    wrong: 'credentials are returned',
    intercept: (() => {
      const stored = new Map<string, Json>()
      return answer([create, 'GetTaskPushNotificationConfig'], async (call, request, next) => {
        if (call.operation === create) {
          stored.set(call.params?.id, call.params)
          return undefined
        }
        const document: Json = await (await next(request)).json()
        return json(document.error === undefined ? { ...document, result: stored.get(call.params.id) } : document)
      })
    })(),
  },
  {
    check: 'push.url-required',
    wrong: 'a config needs no address',
    intercept: accepting((url) => url === undefined || url === ''),
  },
  {
    check: 'push.url-valid',
    wrong: 'any text is an address',
    intercept: accepting((url) => url !== '' && url !== undefined && !String(url).startsWith('http')),
  },
  {
    check: 'push.url-private',
    wrong: 'the address of cloud metadata is accepted',
    intercept: accepting((url) => String(url).includes('169.254')),
  },
  {
    check: 'push.delivery',
    wrong: 'webhooks are called with PUT',
    webhook: async (request, next) => next(new Request(request, { method: 'PUT' })),
  },
  {
    check: 'push.payload',
    wrong: 'a notification is a bare task',
    webhook: delivered((_headers, body) => JSON.stringify(Object.values(JSON.parse(body) as object)[0])),
  },
  {
    check: 'push.payload-0.x',
    wrong: 'a notification of 0.3 names no task',
    version: '0.3',
    webhook: delivered(() => '{"kind":"ping"}'),
  },
  {
    check: 'push.content-type',
    wrong: 'a notification is labelled as text',
    webhook: delivered((headers, body) => (headers.set('content-type', 'text/plain'), body)),
  },
  {
    check: 'push.authorization',
    wrong: 'the credentials of a webhook are not sent',
    webhook: delivered((headers, body) => (headers.delete('authorization'), body)),
  },
  {
    check: 'push.token',
    wrong: 'the token of a webhook is not sent',
    webhook: delivered((headers, body) => (headers.delete('x-a2a-notification-token'), body)),
  },
  {
    check: 'push.end',
    wrong: 'the end of a task is not notified',
    webhook: delivered((_headers, body) => (/COMPLETED|CANCELED/.test(body) ? undefined : body)),
  },
  {
    check: 'push.order',
    wrong: 'a notification of work follows that of the end',
    webhook: async (request, next) => {
      const body = await request.text()
      const call = (text: string): Promise<Response> =>
        next(new Request(request.url, { method: 'POST', headers: request.headers, body: text }))
      const response = await call(body)
      if (body.includes('COMPLETED')) await call(body.replace('COMPLETED', 'WORKING'))
      return response
    },
  },
  {
    check: 'push.inline',
    wrong: 'a config inside a message is ignored',
    intercept: async (request, next) => {
      if (request.method !== 'POST') return next(request)
      const document: Json = JSON.parse(await request.text())
      if (document.params?.configuration !== undefined) delete document.params.configuration.taskPushNotificationConfig
      const headers = new Headers(request.headers)
      headers.delete('content-length')
      return next(
        new Request(request.url, { method: 'POST', headers, body: JSON.stringify(document), signal: request.signal }),
      )
    },
  },
  {
    check: 'push.after-delete',
    wrong: 'a deleted webhook is still called',
    intercept: answer(remove, (call) => rpcResult(call, {})),
  },
  {
    check: 'push.retry',
    wrong: 'a failed notification is not repeated',
    webhook: async (request, next) => {
      await next(request)
      return new Response(null, { status: 204 })
    },
  },
  {
    check: 'push.redirect',
    wrong: 'redirects are followed',
    webhook: async (request) => {
      const [url, method, headers, body] = [request.url, 'POST', request.headers, await request.text()] as const
      return fetch(url, { method, headers, body, redirect: 'follow' })
    },
  },
]

export const authFaults: readonly Fault[] = [
  {
    check: 'auth.required',
    wrong: 'the card requires credentials, and nothing else does',
    intercept: editCard(requiring),
  },
  { check: 'auth.send', wrong: 'messages need no credentials', intercept: editCard(requiring) },
  { check: 'auth.invalid-credentials', wrong: 'any credentials are accepted', intercept: editCard(requiring) },
  {
    check: 'auth.status',
    wrong: 'missing credentials are an internal error',
    settings: secured,
    bearer: 'alice-token',
    intercept: async (request, next) => {
      const response = await next(request)
      return response.status === 401
        ? json({ jsonrpc: '2.0', id: null, error: { code: -32603, message: 'internal error' } }, 500)
        : response
    },
  },
  {
    check: 'auth.challenge',
    wrong: 'a 401 names no scheme',
    settings: secured,
    bearer: 'alice-token',
    intercept: async (request, next) => {
      const response = await next(request)
      const headers = new Headers(response.headers)
      headers.delete('www-authenticate')
      return new Response(response.body, { status: response.status, headers })
    },
  },
  {
    check: 'auth.extended-card',
    wrong: 'anonymous callers get the extended card',
    settings: withExtended,
    intercept: answer('GetExtendedAgentCard', (call) => rpcResult(call, { name: 'More' })),
  },
  {
    check: 'auth.foreign-task',
    wrong: "callers see each other's tasks",
    settings: secured,
    bearer: 'alice-token',
    intercept: sharedCallers,
  },
  {
    check: 'auth.foreign-list',
    wrong: "callers list each other's tasks",
    settings: secured,
    bearer: 'alice-token',
    intercept: sharedCallers,
  },
  {
    check: 'auth.in-task-message',
    wrong: 'AUTH_REQUIRED explains nothing',
    intercept: editDocument('GetTask', (document) => {
      if (document.result?.status?.state === 'TASK_STATE_AUTH_REQUIRED') delete document.result.status.message
      return document
    }),
  },
  {
    check: 'auth.in-task-answer',
    wrong: 'AUTH_REQUIRED accepts no messages',
    intercept: answer('SendMessage', (call) =>
      call.params?.message?.taskId === undefined ? undefined : rpcError(call, -32004),
    ),
  },
]

function requiring(card: Json): Json {
  return {
    ...card,
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
  }
}

/** Every known caller is alice. */
async function sharedCallers(request: Request, next: Next): Promise<Response> {
  const headers = new Headers(request.headers)
  if (headers.has('authorization')) headers.set('authorization', 'Bearer alice-token')
  if (request.method === 'GET') return next(new Request(request.url, { headers }))
  headers.delete('content-length')
  return next(
    new Request(request.url, { method: request.method, headers, body: await request.text(), signal: request.signal }),
  )
}
