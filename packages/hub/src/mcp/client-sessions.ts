/**
 * Sessions of MCP clients (up to revision 2025-11-25). Only with a session can the server ask a client something, or a
 * client cancel a call. A session belongs to the caller that opened it. The number of sessions is limited, and idle ones
 * are closed.
 */
import { WebStandardStreamableHTTPServerTransport, type AuthInfo, type McpServer } from '@modelcontextprotocol/server'
import { jsonRpcErrorResponse } from './json-rpc-error.ts'

export interface McpClientSessionsDeps {
  create(): McpServer
  readonly monotonicNow: () => number
  readonly limits?: Partial<McpSessionLimits>
}

export interface McpSessionLimits {
  readonly most: number
  readonly mostOfGroup: number
  readonly idleMs: number
}

export interface McpSessionRequest {
  readonly request: Request
  readonly parsedBody: unknown
  readonly authInfo: AuthInfo
  /** The owner of the request. */
  readonly owner: string
  /** Sessions are evicted within a group: the caller, or the client address for anonymous callers. */
  readonly group: string
}

export interface McpClientSessions {
  /** Handles a request that opens a session or belongs to one. */
  handle(request: McpSessionRequest): Promise<Response>
  /** Notifies all clients that the tools changed. */
  toolsChanged(): void
  close(): Promise<void>
}

interface McpClientSession {
  readonly owner: string
  readonly group: string
  readonly mcp: McpServer
  readonly transport: WebStandardStreamableHTTPServerTransport
  /** Number of responses in progress. */
  busy: number
  usedAt: number
}

const defaultLimits: McpSessionLimits = { most: 2_000, mostOfGroup: 200, idleMs: 30 * 60_000 }
const sweepMs = 60_000

export function createMcpClientSessions({ create, monotonicNow, limits }: McpClientSessionsDeps): McpClientSessions {
  const { most, mostOfGroup, idleMs } = { ...defaultLimits, ...limits }
  const sessions = new Map<string, McpClientSession>()
  const timer = setInterval(sweep, Math.min(sweepMs, idleMs)).unref()

  function sweep(): void {
    for (const [id, session] of sessions)
      if (session.busy === 0 && monotonicNow() - session.usedAt > idleMs) end(id, session)
  }

  function end(id: string, { mcp }: McpClientSession): void {
    sessions.delete(id)
    mcp.close().catch(() => {})
  }

  /**
   * Makes room for one more session of this group by closing the one that has been idle longest. Returns whether there is
   * room.
   */
  function evictIdle(group: string): boolean {
    const own = [...sessions].filter(([, session]) => session.group === group)
    if (own.length < mostOfGroup && sessions.size < most) return true
    const [eldest] = own.filter(([, { busy }]) => busy === 0).sort(([, a], [, b]) => a.usedAt - b.usedAt)
    if (eldest === undefined) return false
    end(...eldest)
    return true
  }

  async function begin({ request, parsedBody, authInfo, owner, group }: McpSessionRequest): Promise<Response> {
    if (!evictIdle(group)) return jsonRpcErrorResponse(503, 'Too many sessions: end one, or try again later')
    const mcp = create()
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, session),
      onsessionclosed: (id) => void sessions.delete(id),
    })
    const session: McpClientSession = { owner, group, mcp, transport, busy: 0, usedAt: monotonicNow() }
    await mcp.connect(transport)
    const response = await trackBusy(session, () => transport.handleRequest(request, { parsedBody, authInfo }))
    // A failed initialization leaves no session.
    if (transport.sessionId === undefined || !sessions.has(transport.sessionId)) await mcp.close().catch(() => {})
    return response
  }

  /** A session is in use while a response is in progress. */
  async function trackBusy(session: McpClientSession, answer: () => Promise<Response>): Promise<Response> {
    session.busy += 1
    let isDone = false
    const done = (): void => {
      if (isDone) return
      isDone = true
      session.busy -= 1
      session.usedAt = monotonicNow()
    }
    try {
      const response = await answer()
      if (response.body === null) {
        done()
        return response
      }
      return new Response(untilRead(response.body, done), response)
    } catch (reason) {
      done()
      throw reason
    }
  }

  return {
    async handle(asked) {
      const { request, parsedBody, authInfo, owner } = asked
      const id = request.headers.get('mcp-session-id')
      if (id === null) return begin(asked)
      const session = sessions.get(id)
      // A session of another caller looks like one that does not exist.
      if (session === undefined || session.owner !== owner)
        return jsonRpcErrorResponse(404, 'Session not found', -32_001)
      return trackBusy(session, () => session.transport.handleRequest(request, { parsedBody, authInfo }))
    },
    toolsChanged() {
      for (const { mcp } of sessions.values()) mcp.sendToolListChanged()
    },
    async close() {
      clearInterval(timer)
      const all = [...sessions.values()]
      sessions.clear()
      await Promise.allSettled(all.map(({ mcp }) => mcp.close()))
    },
  }
}

/** Passes the bytes through; calls `done` after the last one, or when the reader stops. */
function untilRead(body: ReadableStream<Uint8Array>, done: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream({
    async pull(controller) {
      try {
        const piece = await reader.read()
        if (!piece.done) return controller.enqueue(piece.value)
        done()
        controller.close()
      } catch (reason) {
        done()
        controller.error(reason)
      }
    },
    async cancel(reason) {
      done()
      await reader.cancel(reason)
    },
  })
}
