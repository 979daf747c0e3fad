/** How a fault changes what is on the wire, for JSON-RPC and REST in every version. Operations have their 1.0 names. */
import type { Intercept, Next } from './fault-server.ts'

export type Json = any

export interface Call {
  readonly operation: string
  readonly isJsonRpc: boolean
  /** The params of JSON-RPC, the body of REST. */
  readonly params: Json
  readonly id: Json
}

const legacyMethods: Readonly<Record<string, string>> = {
  'message/send': 'SendMessage',
  'message/stream': 'SendStreamingMessage',
  'tasks/get': 'GetTask',
  'tasks/cancel': 'CancelTask',
  'tasks/resubscribe': 'SubscribeToTask',
  'tasks/pushNotificationConfig/set': 'CreateTaskPushNotificationConfig',
  'tasks/pushNotificationConfig/get': 'GetTaskPushNotificationConfig',
  'tasks/pushNotificationConfig/list': 'ListTaskPushNotificationConfigs',
  'tasks/pushNotificationConfig/delete': 'DeleteTaskPushNotificationConfig',
  'agent/getAuthenticatedExtendedCard': 'GetExtendedAgentCard',
}

const routes: readonly (readonly [method: string, path: RegExp, operation: string])[] = [
  ['POST', /\/message:send$/, 'SendMessage'],
  ['POST', /\/message:stream$/, 'SendStreamingMessage'],
  ['POST', /\/tasks\/[^/]+:cancel$/, 'CancelTask'],
  ['POST', /\/tasks\/[^/]+:subscribe$/, 'SubscribeToTask'],
  ['GET', /\/tasks\/[^/]+:subscribe$/, 'SubscribeToTask'],
  ['GET', /\/tasks\/[^/]+$/, 'GetTask'],
  ['GET', /\/tasks$/, 'ListTasks'],
  ['POST', /\/pushNotificationConfigs$/, 'CreateTaskPushNotificationConfig'],
  ['GET', /\/pushNotificationConfigs$/, 'ListTaskPushNotificationConfigs'],
  ['GET', /\/pushNotificationConfigs\/[^/]+$/, 'GetTaskPushNotificationConfig'],
  ['DELETE', /\/pushNotificationConfigs\/[^/]+$/, 'DeleteTaskPushNotificationConfig'],
  ['GET', /\/extendedAgentCard$/, 'GetExtendedAgentCard'],
  ['GET', /\.well-known\/agent(-card)?\.json$/, 'AgentCard'],
]

/** Reads the body of a request; the copy that it returns can be passed on. */
async function readCall(
  request: Request,
): Promise<{ readonly call: Call; readonly copy: Request; readonly text: string }> {
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD' && request.method !== 'DELETE'
  const text = hasBody ? await request.text() : ''
  const copy = hasBody ? withBody(request, text) : request
  const document = parse(text)
  const { pathname } = new URL(request.url)
  const route = routes.find(([method, path]) => method === request.method && path.test(pathname))
  if (route !== undefined) {
    return { call: { operation: route[2], isJsonRpc: false, params: document, id: undefined }, copy, text }
  }
  const method = String(document?.method ?? '')
  const operation = legacyMethods[method] ?? method
  return { call: { operation, isJsonRpc: true, params: document?.params, id: document?.id }, copy, text }
}

export function withBody(request: Request, body: string): Request {
  const headers = new Headers(request.headers)
  headers.delete('content-length')
  return new Request(request.url, { method: request.method, headers, body, signal: request.signal })
}

function parse(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isOf = (operations: string | readonly string[], { operation }: Call): boolean =>
  operations === '*' || [operations].flat().includes(operation)

export const json = (document: Json, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(document), { status, headers: { 'content-type': 'application/json', ...headers } })

/** The response of JSON-RPC to a call. */
export const rpcResult = ({ id }: Call, result: Json): Response => json({ jsonrpc: '2.0', id, result })
export const rpcError = ({ id }: Call, code: number, message = 'refused', data?: Json): Response =>
  json({ jsonrpc: '2.0', id: id ?? null, error: { code, message, ...(data === undefined ? {} : { data }) } })

/** Answers these operations itself; `undefined` passes the call on. */
export function answer(
  operations: string | readonly string[],
  respond: (call: Call, request: Request, next: Next) => Response | undefined | Promise<Response | undefined>,
): Intercept {
  return async (request, next) => {
    const { call, copy } = await readCall(request)
    return (isOf(operations, call) ? await respond(call, copy, next) : undefined) ?? next(copy)
  }
}

/** Changes the request before the correct agent sees it. */
export function editRequest(operations: string | readonly string[], edit: (document: Json) => Json): Intercept {
  return async (request, next) => {
    const { call, copy, text } = await readCall(request)
    if (!isOf(operations, call) || text === '') return next(copy)
    return next(withBody(copy, JSON.stringify(edit(JSON.parse(text)))))
  }
}

/** Changes the whole JSON document of a response, errors included. `undefined` leaves the body empty. */
export function editDocument(
  operations: string | readonly string[],
  edit: (document: Json, call: Call) => Json,
): Intercept {
  return async (request, next) => {
    const { call, copy } = await readCall(request)
    const response = await next(copy)
    if (!isOf(operations, call) || isStream(response)) return response
    const text = await response.text()
    const document = parse(text)
    const headers = new Headers(response.headers)
    headers.delete('content-length')
    headers.delete('etag')
    const edited = document === undefined ? text : JSON.stringify(edit(document, call))
    return new Response(edited, { status: response.status, headers })
  }
}

/** Changes the payload of a successful response: the `result` of JSON-RPC, the body of REST. */
export function editResult(
  operations: string | readonly string[],
  edit: (result: Json, call: Call) => Json,
): Intercept {
  return editDocument(operations, (document, call) => {
    if (!call.isJsonRpc) return document.error === undefined ? edit(document, call) : document
    return document.result === undefined ? document : { ...document, result: edit(document.result, call) }
  })
}

/** Changes the error of a failed response: the `error` of JSON-RPC and REST. */
export function editError(operations: string | readonly string[], edit: (error: Json, call: Call) => Json): Intercept {
  return editDocument(operations, (document, call) =>
    document.error === undefined ? document : { ...document, error: edit(document.error, call) },
  )
}

export const editCard = (edit: (card: Json) => Json): Intercept => editDocument('AgentCard', edit)

/** Changes status or headers of a response. */
export function editHead(
  operations: string | readonly string[],
  edit: (head: { status: number; headers: Headers }) => { status: number; headers: Headers },
): Intercept {
  return async (request, next) => {
    const { call, copy } = await readCall(request)
    const response = await next(copy)
    if (!isOf(operations, call)) return response
    const head = edit({ status: response.status, headers: new Headers(response.headers) })
    return new Response(response.body, head)
  }
}

/** Changes the events of a stream: of JSON-RPC each `result`, of REST each document. */
export function editEvents(
  operations: string | readonly string[],
  edit: (events: AsyncIterable<Json>, call: Call) => AsyncIterable<Json>,
): Intercept {
  return editFrames(operations, async function* (documents, call) {
    const wrap = (event: Json): Json => (call.isJsonRpc ? { jsonrpc: '2.0', id: call.id, result: event } : event)
    const unwrapped = (async function* () {
      for await (const document of documents) yield call.isJsonRpc ? document.result : document
    })()
    for await (const event of edit(unwrapped, call)) yield `data: ${JSON.stringify(wrap(event))}\n\n`
  })
}

/** Writes the frames of a stream itself. */
export function editFrames(
  operations: string | readonly string[],
  edit: (documents: AsyncIterable<Json>, call: Call) => AsyncIterable<string>,
): Intercept {
  return async (request, next) => {
    const { call, copy } = await readCall(request)
    const response = await next(copy)
    if (!isOf(operations, call) || !isStream(response) || response.body === null) return response
    const frames = edit(documentsOf(response.body), call)
    const body = ReadableStream.from(encoded(frames))
    return new Response(body, { status: response.status, headers: response.headers })
  }
}

const isStream = (response: Response): boolean =>
  response.headers.get('content-type')?.startsWith('text/event-stream') === true

async function* encoded(frames: AsyncIterable<string>): AsyncIterable<Uint8Array> {
  const encoder = new TextEncoder()
  for await (const frame of frames) yield encoder.encode(frame)
}

async function* documentsOf(body: ReadableStream<Uint8Array>): AsyncIterable<Json> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true })
    for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
      const data = rest
        .slice(0, end)
        .split('\n')
        .find((line) => line.startsWith('data:'))
      rest = rest.slice(end + 2)
      if (data !== undefined) yield JSON.parse(data.slice(5))
    }
  }
}
