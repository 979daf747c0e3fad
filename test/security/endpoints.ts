/**
 * Every endpoint of a hub, by its guard. Endpoints with a table are read from it: the
 * operations of every version from its spelling, the admin API from its OpenAPI document, gRPC from its methods.
 */
import { rpcMethodsOf } from '../../packages/a2a/src/bindings/grpc/service.ts'
import type { Operation } from '../../packages/a2a/src/model/operation.ts'
import { versions } from '../../packages/a2a/src/versions/index.ts'

export const guards = [
  'public',
  'list of agents',
  'agent card',
  'agent: send, cancel, push',
  'agent: read',
  'own keys of an agent: read',
  'own keys of an agent: change',
  'MCP',
  'metrics',
  'admin: read',
  'admin: change',
  'sign in',
] as const
export type Guard = (typeof guards)[number]

export interface Endpoint {
  readonly listener: 'HTTP' | 'gRPC' | "gRPC of the agent's own port"
  readonly guard: Guard
  /** For gRPC the full name of the method. */
  readonly path: string
  readonly method: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

const reading: readonly Operation[] = ['GetTask', 'ListTasks', 'SubscribeToTask', 'GetExtendedAgentCard']
const guardOf = (operation: Operation): Guard =>
  reading.includes(operation) ? 'agent: read' : 'agent: send, cancel, push'
const agentPath = '/a2a/private'

/** The value of every path parameter. Nothing has this name, so authorized requests change nothing. */
const missingId = 'absent'
const filled = (path: string): string => path.replaceAll(/\{(\w+)\}/g, missingId)

function* operations(): Generator<Endpoint> {
  for (const { id, spelling } of versions) {
    const headers = { 'a2a-version': id }
    for (const [operation, method] of Object.entries(spelling.methods) as [Operation, string | undefined][]) {
      if (method === undefined) continue
      const body = { jsonrpc: '2.0', id: 1, method, params: {} }
      yield { listener: 'HTTP', guard: guardOf(operation), method: 'POST', path: agentPath, headers, body }
    }
    for (const { operation, verb, path, body } of spelling.routes) {
      if (path.startsWith('/{tenant}')) continue
      const more = body === true ? { body: {} } : {}
      yield {
        listener: 'HTTP',
        guard: guardOf(operation),
        method: verb,
        path: agentPath + filled(path),
        headers,
        ...more,
      }
    }
  }
}

function* grpcMethods(): Generator<Endpoint> {
  for (const version of versions) {
    for (const { operation, path } of rpcMethodsOf(version).values()) {
      const headers = { 'a2a-version': version.id }
      const guard = guardOf(operation)
      yield { listener: 'gRPC', guard, method: 'POST', path, headers: { ...headers, 'x-parley-agent': 'private' } }
      yield { listener: "gRPC of the agent's own port", guard, method: 'POST', path, headers }
    }
  }
  for (const path of ['/grpc.health.v1.Health/Check', '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo']) {
    yield { listener: 'gRPC', guard: 'public', method: 'POST', path }
  }
}

function* written(): Generator<Endpoint> {
  const at = (guard: Guard, method: string, path: string, more: Partial<Endpoint> = {}): Endpoint => ({
    listener: 'HTTP',
    guard,
    method,
    path,
    ...more,
  })
  for (const path of ['/healthz', '/readyz', '/.well-known/jwks.json', '/.well-known/oauth-protected-resource/mcp']) {
    yield at('public', 'GET', path)
  }
  yield at('public', 'GET', '/', { headers: { accept: 'text/html' } })
  yield at('public', 'GET', '/console/absent.js')
  // Webhooks of an agent behind the hub: the agent authenticates them, and this one accepts none.
  yield at('public', 'POST', `${agentPath}/hooks/absent`, { body: {} })
  yield at('metrics', 'GET', '/metrics')
  for (const path of ['/a2a', '/.well-known/ai-catalog.json']) yield at('list of agents', 'GET', path)
  for (const path of ['agent-card.json', 'agent.json', 'agent'])
    yield at('agent card', 'GET', `${agentPath}/.well-known/${path}`)
  yield at('agent card', 'GET', `${agentPath}/agent-card`)
  yield at('agent: read', 'GET', `${agentPath}/agent/authenticatedExtendedCard`)
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  }
  const accept = { accept: 'application/json, text/event-stream' }
  yield at('MCP', 'POST', '/mcp', { headers: accept, body: initialize })
  // The profiles: other formats for sending, reading and canceling.
  yield at('agent: send, cancel, push', 'POST', '/bot-instances/private/chat', { body: {} })
  yield at('agent: send, cancel, push', 'POST', '/a2a/tasks/send', { body: {} })
  const send = { jsonrpc: '2.0', id: 1, method: 'message/send', params: {} }
  yield at('agent: send, cancel, push', 'POST', '/api/a2a', { body: send })
  yield at('agent: send, cancel, push', 'POST', '/v1/message:send', { body: { message: { kind: 'message' } } })
  yield at('agent: read', 'GET', '/a2a/tasks/absent')
}

/** From the OpenAPI document of the hub itself, by the security that each operation declares. */
export function* adminEndpoints(document: any): Generator<Endpoint> {
  for (const [path, methods] of Object.entries<any>(document.paths)) {
    for (const [verb, { security, requestBody }] of Object.entries<any>(methods)) {
      const method = verb.toUpperCase()
      const schemes = security.map((one: object) => Object.keys(one).join('+'))
      const guard = adminGuard(schemes, method)
      // The agent of the keys exists; everything else that a path names does not.
      const at = path.startsWith('/a2a/') ? filled(path.replace('{agent}', 'private')) : filled(path)
      const body = requestBody === undefined ? {} : { body: {} }
      yield { listener: 'HTTP', guard, method, path: at, ...body }
    }
  }
}

function adminGuard(schemes: readonly string[], method: string): Guard {
  if (schemes.includes('')) return 'public'
  const kind = schemes.includes('token') ? 'own keys of an agent' : 'admin'
  if (kind === 'admin' && !schemes.some((scheme) => scheme.startsWith('session'))) return 'sign in'
  return `${kind}: ${method === 'GET' ? 'read' : 'change'}`
}

export const endpoints = (document: unknown): readonly Endpoint[] => [
  ...operations(),
  ...grpcMethods(),
  ...written(),
  ...adminEndpoints(document),
]
