/**
 * `/mcp`: the hub's agents for MCP clients, over streamable HTTP. Clients of the newest revision bring with each request all
 * that it takes; older ones keep a session, or do without what needs one. Who asks is found out for every request anew.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createMcpHandler, isInitializeRequest, isLegacyRequest } from '@modelcontextprotocol/server'
import type { AuthInfo, ServerContext } from '@modelcontextprotocol/server'
import { A2AError } from '@parley/a2a'
import type { AgentLog, Caller } from '@parley/a2a'
import { measureJson } from '@parley/a2a/server'
import type { Credentials } from '@parley/a2a/server'
import type { Front } from '@parley/a2a/node'
import { routeRequest } from '../admin/route-request.ts'
import { addressOf, senderOf } from '../limits/address.ts'
import { createBridge } from './bridge.ts'
import type { BridgeSettings } from './call.ts'
import type { Desk } from './desk.ts'
import { createHouseDesk } from './house-desk.ts'
import type { HouseDeskParts } from './house-desk.ts'
import { createPages } from './pages.ts'
import type { PagesParts } from './pages.ts'
import { createPlaces } from './places.ts'
import { refusal } from './refusal.ts'
import { createSessions } from './sessions.ts'
import type { SessionLimits } from './sessions.ts'
import { createVisits } from './visits.ts'
import { readBody, sendResponse, toRequest } from '../http/web-exchange.ts'

export interface McpFrontParts extends HouseDeskParts, PagesParts {
  readonly settings: BridgeSettings
  /** Who sends a request that is for no agent in particular. Throws UNAUTHENTICATED. */
  identify(credentials: Omit<Credentials, 'agent'>): Promise<Caller>
  /** Cuts the answer when the credentials of the caller end. */
  endWithGrant(caller: Caller, response: ServerResponse): void
  /** Whether there is an agent that anybody may use. */
  hasOpenAgents(): boolean
  /** The way to agents elsewhere, if the caller may have addresses called that it names. */
  remoteFor(caller: Caller): Desk['remote']
  /** Whether X-Forwarded-For is believed. */
  trustsProxy(): boolean
  readonly bodyBytes: number
  readonly jsonNodes: number
  /** Calls of one caller at one time. */
  readonly mostCalls: number
  readonly log: AgentLog
  readonly monotonicNow: () => number
  readonly sessions?: Partial<SessionLimits>
}

export interface McpFront {
  readonly front: Front
  /** There are other agents now. */
  changed(): void
  close(): Promise<void>
}

/** Deeper than anything that a tool takes. */
const deepest = 64
/** Of requests in one: only old clients send more than one. */
const mostAtOnce = 50
/** Tools that ask nothing of an agent. */
const looking: readonly unknown[] = ['list_agents', 'discover_agent']

export function createMcpFront(parts: McpFrontParts): McpFront {
  const { log, monotonicNow } = parts
  const pages = createPages(parts)
  const places = createPlaces(parts.mostCalls)
  let isClosing = false
  const bridge = () => createBridge({ desk: deskIn, settings: parts.settings, hasLeft, hold, log })
  const onerror = (cause: Error): void => log.debug('the MCP bridge complains', { cause })
  const handler = createMcpHandler(bridge, { onerror, maxRequestBodySize: parts.bodyBytes })
  const sessions = createSessions({
    create: bridge,
    monotonicNow,
    ...(parts.sessions !== undefined ? { limits: parts.sessions } : {}),
  })

  function hold({ http }: ServerContext): () => void {
    return places.take(http?.authInfo?.clientId ?? '')
  }

  /** Clients of the newest revision end a call by leaving; others say so. */
  function hasLeft({ http, mcpReq }: ServerContext): boolean {
    return mcpReq.envelope !== undefined && http?.req?.signal.aborted === true && !isClosing
  }

  async function answer(incoming: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<Response> {
    const request = routeRequest(incoming)
    const caller = await parts.identify(request.credentials(''))
    parts.endWithGrant(caller, response)
    if (caller.anonymous === true && !parts.hasOpenAgents()) {
      throw new A2AError('UNAUTHENTICATED', 'Authentication is required')
    }
    const remote = parts.remoteFor(caller)
    const desk = createHouseDesk(parts, {
      caller,
      credentials: request.credentials,
      ...(remote !== undefined ? { remote } : {}),
    })
    const authInfo: AuthInfo = { token: '', clientId: caller.id, scopes: [], extra: { desk } }
    const body = await readBody(incoming, parts.bodyBytes)
    if (body === undefined) return refusal(413, `A request here has up to ${parts.bodyBytes} bytes`)
    const text = body.toString()
    const { nodes, depth } = measureJson(text, parts.jsonNodes)
    if (nodes > parts.jsonNodes) return refusal(413, `A request here has up to ${parts.jsonNodes} JSON values`)
    const parsedBody = jsonIn(text)
    if (depth > deepest) return refusal(400, 'The request is nested too deeply', -32_600)
    if (Array.isArray(parsedBody) && parsedBody.length > mostAtOnce) {
      return refusal(400, `Send up to ${mostAtOnce} requests at once`, -32_600)
    }
    if (isForNoAgent(parsedBody)) await createVisits(parts, request.credentials).knock(caller)
    const web = toRequest(incoming, body, signal)
    const known = parsedBody === undefined ? {} : { parsedBody }
    const keepsSession = isBeginning(parsedBody) || web.headers.has('mcp-session-id')
    if (keepsSession && (await isLegacyRequest(web, parsedBody))) {
      // Callers without a name are one owner, as they are of tasks.
      const group = caller.anonymous === true ? senderOf(addressOf(request, parts.trustsProxy())) : caller.id
      return sessions.handle({ request: web, parsedBody, authInfo, owner: caller.id, group })
    }
    return handler.fetch(web, { authInfo, ...known })
  }

  async function take(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const page = pages.answer(incoming)
    const made = page ?? (await answer(incoming, response, gone.signal).catch((reason: unknown) => refused(reason)))
    if (gone.signal.aborted) return
    await sendResponse(response, made, pages.headers(incoming))
  }

  function refused(reason: unknown): Response {
    const { code, message, details, cause } = A2AError.from(reason)
    const { retryAfterSeconds } = details
    if (code === 'UNAUTHENTICATED') return pages.challenge(reason as A2AError)
    if (code === 'RATE_LIMITED')
      return refusal(429, message, -32_092, {
        'retry-after': typeof retryAfterSeconds === 'string' ? retryAfterSeconds : '1',
      })
    if (code === 'UNAVAILABLE') return refusal(503, message, -32_603, { 'retry-after': '1' })
    log.warn('a request of an MCP client could not be answered', { cause: cause ?? reason })
    return refusal(500, 'Internal error', -32_603)
  }

  return {
    front(request, response) {
      if (!pages.isOurs(request)) return false
      take(request, response).catch((cause: unknown) => {
        log.debug('an MCP client has gone', { cause })
        response.destroy()
      })
      return true
    },
    changed() {
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

/** Of the request that the tool was called by. */
function deskIn({ http }: ServerContext): Desk {
  const { desk } = (http?.authInfo?.extra ?? {}) as { readonly desk?: Desk }
  if (desk === undefined) throw new Error('a request of an MCP client has no desk')
  return desk
}

function jsonIn(text: string): unknown {
  try {
    return text === '' ? undefined : (JSON.parse(text) as unknown)
  } catch {
    return undefined
  }
}

function isBeginning(body: unknown): boolean {
  return Array.isArray(body) ? body.some(isInitializeRequest) : isInitializeRequest(body)
}

/** Whether it asks for something that nobody counts: what is asked of an agent is counted there, answers to us are not. */
function isForNoAgent(body: unknown): boolean {
  return [body].flat().some((one: unknown) => {
    const { method, id, params } = (one ?? {}) as { readonly method?: unknown; readonly id?: unknown; params?: unknown }
    const { name } = (params ?? {}) as { readonly name?: unknown }
    return id !== undefined && method !== undefined && (method !== 'tools/call' || looking.includes(name))
  })
}
