/** The operation and version of a request, from the request alone. */
import type { JsonObject } from './shape.ts'
import { isJsonObject } from './shape.ts'
import type { VersionId } from './tables.ts'

export type OperationKind = 'send' | 'stream' | 'get' | 'list' | 'cancel' | 'subscribe' | 'push' | 'extended-card'

/** A request as it went out. */
export interface SentRequest {
  readonly method: string
  /** Path and query, as the web's Request writes them. */
  readonly url: URL
  readonly headers: Headers
  /** `undefined` if there is none; otherwise as a reader of UTF-8 sees it. */
  readonly body: string | undefined
  /** The server reads a missing version as 0.3. */
  readonly strict: boolean
}

const newMethods: Readonly<Record<string, OperationKind>> = {
  SendMessage: 'send',
  SendStreamingMessage: 'stream',
  GetTask: 'get',
  ListTasks: 'list',
  CancelTask: 'cancel',
  SubscribeToTask: 'subscribe',
  CreateTaskPushNotificationConfig: 'push',
  GetTaskPushNotificationConfig: 'push',
  ListTaskPushNotificationConfigs: 'push',
  DeleteTaskPushNotificationConfig: 'push',
  GetExtendedAgentCard: 'extended-card',
}

const oldMethods: Readonly<Record<string, OperationKind>> = {
  'message/send': 'send',
  'message/stream': 'stream',
  'tasks/get': 'get',
  'tasks/cancel': 'cancel',
  'tasks/resubscribe': 'subscribe',
  'tasks/pushNotificationConfig/set': 'push',
  'tasks/pushNotificationConfig/get': 'push',
  'tasks/pushNotificationConfig/list': 'push',
  'tasks/pushNotificationConfig/delete': 'push',
  'agent/getAuthenticatedExtendedCard': 'extended-card',
  'agent/authenticatedExtendedCard': 'extended-card',
}

export const newMethodNames: readonly string[] = Object.keys(newMethods)
export const oldMethodNames: readonly string[] = Object.keys(oldMethods)

export type EntryPoint = 'jsonrpc' | 'card' | 'extended-card-0.2' | 'probe' | 'rest'

export function entryPointOf({ url, method }: SentRequest): EntryPoint {
  const path = url.pathname
  if (['/', '/a2a', '/a2a/', '/api/a2a'].includes(path)) return method === 'POST' ? 'jsonrpc' : 'rest'
  if (path === '/healthz' || path === '/readyz') return 'probe'
  const below = path.startsWith('/a2a/') ? path.slice(4) : path
  if (/^\/(\.well-known\/agent(-card\.json|\.json)?|agent-card)$/.test(below)) return 'card'
  return below === '/agent/authenticatedExtendedCard' ? 'extended-card-0.2' : 'rest'
}

/** The version that the request names, if it is supported. */
function namedVersion(value: string | null): VersionId | undefined {
  const found = /^\s*(0\.2|0\.3|1\.0)(\.\d{1,9})?\s*$/.exec(value ?? '')
  return found?.[1] as VersionId | undefined
}

/** The version of the answer, if the request determines it. */
export function expectedVersion(sent: SentRequest, entryPoint: EntryPoint): VersionId | undefined {
  const header = sent.headers.get('a2a-version')
  if (header !== null && header !== '') return namedVersion(header)
  const isInQuery = [...sent.url.searchParams.keys()].some((name) => name.toLowerCase() === 'a2a-version')
  if (isInQuery) return undefined
  if (entryPoint === 'rest') return sent.strict || sent.url.pathname.startsWith('/v1/') ? '0.3' : undefined
  if (entryPoint !== 'jsonrpc') return undefined
  const envelope = envelopeOf(sent) ?? {}
  const { method } = envelope
  // A broken envelope gets the error of a request without a version (B-10), and a body of another type is not read.
  if (typeof method !== 'string' || !isValidEnvelope(envelope) || !isReadable(sent)) return undefined
  return !sent.strict && Object.hasOwn(newMethods, method) ? '1.0' : '0.3'
}

/** Whether the server gets as far as the body. */
export function isReadable({ headers }: SentRequest): boolean {
  const type = (headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return type === 'application/json' || type === 'application/a2a+json'
}

export function parsedBody({ body }: SentRequest): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(body ?? '') as unknown }
  } catch {
    return undefined
  }
}

export function envelopeOf(sent: SentRequest): JsonObject | undefined {
  const value = parsedBody(sent)?.value
  return isJsonObject(value) ? value : undefined
}

/** Whether the envelope is valid, regardless of its content (B-36, F-2). */
export function isValidEnvelope({ jsonrpc, method, id }: JsonObject): boolean {
  const hasId = typeof id === 'string' || id === null || (typeof id === 'number' && Number.isFinite(id))
  return jsonrpc === '2.0' && typeof method === 'string' && method !== '' && hasId
}

/** The requested operation, if the version of the answer has it. */
export function operationOf(sent: SentRequest, entryPoint: EntryPoint, version: VersionId): OperationKind | undefined {
  if (entryPoint === 'jsonrpc') {
    const method = envelopeOf(sent)?.['method']
    const table = version === '1.0' ? newMethods : oldMethods
    return typeof method === 'string' && Object.hasOwn(table, method) ? table[method] : undefined
  }
  return restOperation(sent, version)
}

const routes: readonly (readonly [pattern: RegExp, verbs: string, operation: OperationKind])[] = [
  [/^\/message:send$/, 'POST', 'send'],
  [/^\/message:stream$/, 'POST', 'stream'],
  [/^\/tasks\/[^/]+:cancel$/, 'POST', 'cancel'],
  [/^\/tasks\/[^/]+:subscribe$/, 'GET POST', 'subscribe'],
  [/^\/tasks\/[^/]+\/pushNotificationConfigs$/, 'GET HEAD POST', 'push'],
  [/^\/tasks\/[^/]+\/pushNotificationConfigs\/[^/]+$/, 'GET HEAD DELETE', 'push'],
  [/^\/tasks\/[^/]+$/, 'GET HEAD', 'get'],
  [/^\/tasks$/, 'GET HEAD', 'list'],
  [/^\/extendedAgentCard$/, 'GET HEAD', 'extended-card'],
]

function restOperation({ method, url }: SentRequest, version: VersionId): OperationKind | undefined {
  const path = url.pathname.startsWith('/a2a/') ? url.pathname.slice(4) : url.pathname
  const isOld = version !== '1.0'
  if (isOld && !path.startsWith('/v1/')) return undefined
  const bare = isOld ? path.slice(3) : path
  if (isOld && bare === '/card') return method === 'GET' || method === 'HEAD' ? 'extended-card' : undefined
  const found = routes.find(([pattern]) => pattern.test(bare))
  if (found === undefined) return undefined
  const [, verbs, operation] = found
  const isMissing = isOld && (operation === 'list' || operation === 'extended-card')
  return isMissing || !verbs.split(' ').includes(method) ? undefined : operation
}
