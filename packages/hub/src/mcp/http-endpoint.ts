/**
 * `/mcp`: the hub's agents for MCP clients, over streamable HTTP. Clients of the newest revision send everything with each
 * request. Older ones keep a session, or do without features that need one. Every request is authenticated.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate as breathe } from 'node:timers/promises'
import { createMcpHandler, isInitializeRequest, isLegacyRequest } from '@modelcontextprotocol/server'
import type { AuthInfo, ServerContext } from '@modelcontextprotocol/server'
import { A2AError, type AgentLog, type Caller } from '@parley/a2a'
import {
  clientNetwork,
  omitUndefined,
  measureJson,
  type HandlerReaders,
  type ResponseMemory,
} from '@parley/a2a/internal'
import type { AuthenticatedCall, Call } from '@parley/a2a/server'
import type { Middleware } from '@parley/a2a/node'
import { createRouteRequest } from '../http/route-request.ts'
import { createMcpServer } from './mcp-server.ts'
import type { McpServerSettings } from './tools/tool.ts'
import type { AgentDirectory } from './directory/agent-directory.ts'
import { countRequest, createLocalDirectory, type LocalDirectoryDeps } from './directory/local-directory.ts'
import { createMcpHttpPolicy, type McpHttpPolicyDeps } from './http-policy.ts'
import { jsonRpcErrorResponse } from './json-rpc-error.ts'
import { createMcpClientSessions, type McpSessionLimits } from './client-sessions.ts'
import { readBody, sendResponse, toRequest } from '../http/web-exchange.ts'
import { attempt } from '../json/attempt.ts'

export interface McpEndpointDeps extends LocalDirectoryDeps, McpHttpPolicyDeps {
  readonly settings: McpServerSettings
  readers(): Promise<Pick<HandlerReaders, 'openMemory'>>
  /** Authenticates a request that is for no particular agent. Throws UNAUTHENTICATED. */
  identify(call: Call): Promise<AuthenticatedCall>
  /** Ends the response when the credentials of the call end. */
  endWithGrant(call: Call, response: ServerResponse): void
  /** Whether an agent permits anonymous access. */
  hasOpenAgents(): boolean
  /** The lookup of remote agents, if the caller may make the hub call addresses of its choice. */
  remoteFor(caller: Caller): AgentDirectory['remote']
  /** Whether X-Forwarded-For is trusted. */
  readonly trustProxy: boolean
  readonly bodyBytes: number
  readonly jsonNodes: number
  /** Limit of concurrent calls of one caller. */
  readonly maxConcurrentCalls: number
  readonly log: AgentLog
  readonly monotonicNow: () => number
  readonly sessions?: Partial<McpSessionLimits>
}

export interface McpEndpoint {
  readonly middleware: Middleware
  /** Notifies clients that the agents changed. */
  toolsChanged(): void
  close(): Promise<void>
}

/** Deeper than the input of any tool. */
const maxJsonDepth = 64
/** Limit of requests in a batch: only old clients send batches. */
const maxBatchSize = 50
const noBody = Buffer.alloc(0)
const largeBytes = 500_000
/** Tools that call no agent. */
const listingTools: readonly unknown[] = ['list_agents', 'discover_agent']

export function createMcpEndpoint(deps: McpEndpointDeps): McpEndpoint {
  const { log, monotonicNow } = deps
  const httpPolicy = createMcpHttpPolicy(deps)
  const callLimit = createConcurrentCallLimit(deps.maxConcurrentCalls)
  let isClosing = false
  const createServer = () =>
    createMcpServer({ directory: directoryOf, settings: deps.settings, hasLeft, acquireCall, log })
  const onerror = (cause: Error): void => log.debug('the MCP bridge reported an error', { cause })
  const handler = createMcpHandler(createServer, { onerror, maxRequestBodySize: deps.bodyBytes })
  const sessions = createMcpClientSessions({
    create: createServer,
    monotonicNow,
    ...omitUndefined({ limits: deps.sessions }),
  })

  function acquireCall({ http }: ServerContext): () => void {
    return callLimit.acquire(http?.authInfo?.clientId ?? '')
  }

  /** Clients of the newest revision cancel a call by disconnecting; others send a notification. */
  function hasLeft({ http, mcpReq }: ServerContext): boolean {
    return mcpReq.envelope !== undefined && http?.req?.signal.aborted === true && !isClosing
  }

  async function answer(incoming: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<Response> {
    const request = createRouteRequest(incoming, deps)
    const call = await deps.identify(request.call(''))
    const { caller } = call
    deps.endWithGrant(call, response)
    if (caller.anonymous === true && !deps.hasOpenAgents()) {
      throw new A2AError('UNAUTHENTICATED', 'Authentication is required')
    }
    const remote = deps.remoteFor(caller)
    // All anonymous callers own the same tasks, but one must not take the memory and the sessions of the others.
    const group = caller.anonymous === true ? `anonymous ${clientNetwork(request.clientAddress)}` : limitKey(caller)
    const directory = createLocalDirectory(deps, {
      call,
      callOf: request.call,
      memory: await openMemory(group, response, signal),
      ...omitUndefined({ remote }),
    })
    const authInfo: AuthInfo = { token: '', clientId: limitKey(caller), scopes: [], extra: { directory } }
    const body = await readBody(incoming, deps.bodyBytes)
    if (body === undefined) return jsonRpcErrorResponse(413, `The request exceeds ${deps.bodyBytes} bytes`)
    // Each of these takes long for a large body: others have a turn in between.
    const rest = async (): Promise<void> => void (body.length > largeBytes && (await breathe()))
    await rest()
    const text = body.toString()
    await rest()
    const { nodes, depth } = measureJson(text, deps.jsonNodes)
    if (nodes > deps.jsonNodes) return jsonRpcErrorResponse(413, `The request exceeds ${deps.jsonNodes} JSON values`)
    const parsedBody = attempt((): unknown => JSON.parse(text))
    await rest()
    if (depth > maxJsonDepth) return jsonRpcErrorResponse(400, 'The request is nested too deeply', -32_600)
    if (Array.isArray(parsedBody) && parsedBody.length > maxBatchSize) {
      return jsonRpcErrorResponse(400, `A batch may contain at most ${maxBatchSize} requests`, -32_600)
    }
    if (isWithoutAgent(parsedBody)) await countRequest(deps.admit, call)
    // Parsed already. A web Request copies its body, which takes longer than parsing it.
    const web = toRequest(incoming, parsedBody === undefined ? body : noBody, signal)
    const known = parsedBody === undefined ? {} : { parsedBody }
    const keepsSession = isInitialize(parsedBody) || web.headers.has('mcp-session-id')
    if (keepsSession && (await isLegacyRequest(web, parsedBody))) {
      return sessions.handle({ request: web, parsedBody, authInfo, owner: caller.id, group })
    }
    return handler.fetch(web, { authInfo, ...known })
  }

  async function openMemory(caller: string, response: ServerResponse, signal: AbortSignal): Promise<ResponseMemory> {
    const memory = (await deps.readers()).openMemory(caller, signal)
    if (response.closed) memory.release()
    else response.once('close', memory.release)
    return memory
  }

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const page = httpPolicy.earlyResponse(incoming)
    const made =
      page ?? (await answer(incoming, response, gone.signal).catch((reason: unknown) => errorResponse(reason)))
    if (gone.signal.aborted) return
    await sendResponse(response, made, httpPolicy.headers(incoming))
  }

  function errorResponse(reason: unknown): Response {
    const { code, message, details, cause } = A2AError.from(reason)
    const { retryAfterSeconds } = details
    if (code === 'UNAUTHENTICATED') return httpPolicy.challenge(reason as A2AError)
    if (code === 'RATE_LIMITED')
      return jsonRpcErrorResponse(429, message, -32_092, {
        'retry-after': typeof retryAfterSeconds === 'string' ? retryAfterSeconds : '1',
      })
    if (code === 'UNAVAILABLE') return jsonRpcErrorResponse(503, message, -32_603, { 'retry-after': '1' })
    log.warn('a request of an MCP client could not be answered', { cause: cause ?? reason })
    return jsonRpcErrorResponse(500, 'Internal error', -32_603)
  }

  return {
    middleware(request, response) {
      if (!httpPolicy.matchesPath(request)) return false
      handle(request, response).catch((cause: unknown) => {
        log.debug('an MCP client disconnected', { cause })
        response.destroy()
      })
      return true
    },
    toolsChanged() {
      handler.notify.toolsChanged()
      sessions.toolsChanged()
    },
    async close() {
      isClosing = true
      await sessions.close()
      await handler.close()
    },
  }
}

/** The directory of the request that called the tool. */
function directoryOf({ http }: ServerContext): AgentDirectory {
  const { directory } = (http?.authInfo?.extra ?? {}) as { readonly directory?: AgentDirectory }
  if (directory === undefined) throw new Error('MCP request without an agent directory')
  return directory
}

/** The caller under whom it counts: several keys that one caller created share its limits. */
function limitKey({ limitedAs, id }: Caller): string {
  return limitedAs ?? id
}

function isInitialize(body: unknown): boolean {
  return Array.isArray(body) ? body.some(isInitializeRequest) : isInitializeRequest(body)
}

/** Whether the request must be counted here: calls of an agent are counted there, and responses to us are not counted. */
function isWithoutAgent(body: unknown): boolean {
  return [body].flat().some((one: unknown) => {
    const { method, id, params } = (one ?? {}) as { readonly method?: unknown; readonly id?: unknown; params?: unknown }
    const { name } = (params ?? {}) as { readonly name?: unknown }
    return id !== undefined && method !== undefined && (method !== 'tools/call' || listingTools.includes(name))
  })
}

interface ConcurrentCallLimit {
  /** Returns the release function. Throws RATE_LIMITED. */
  acquire(callerId: string): () => void
}

/** Limits the concurrent calls of one caller: each may wait for an hour. */
function createConcurrentCallLimit(most: number): ConcurrentCallLimit {
  const callCounts = new Map<string, number>()
  return {
    acquire(callerId) {
      const count = callCounts.get(callerId) ?? 0
      if (count >= most) throw new A2AError('RATE_LIMITED', `At most ${most} calls may run at the same time`)
      callCounts.set(callerId, count + 1)
      return () => {
        const left = (callCounts.get(callerId) ?? 1) - 1
        if (left > 0) callCounts.set(callerId, left)
        else callCounts.delete(callerId)
      }
    },
  }
}
