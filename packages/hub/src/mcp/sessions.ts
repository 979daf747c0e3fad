/**
 * Sessions of clients that keep one (MCP up to 2025-11-25): only with one can a client be asked something, or say that a call
 * is to stop. A session is whose it was when it began. There are never more than a bounded number, and one that nobody uses
 * goes.
 */
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import type { AuthInfo, McpServer } from '@modelcontextprotocol/server'
import { refusal } from './refusal.ts'

export interface SessionsParts {
  create(): McpServer
  readonly monotonicNow: () => number
  readonly limits?: Partial<SessionLimits>
}

export interface SessionLimits {
  readonly most: number
  readonly mostOfGroup: number
  readonly idleMs: number
}

export interface SessionRequest {
  readonly request: Request
  readonly parsedBody: unknown
  readonly authInfo: AuthInfo
  /** Whose request it is. */
  readonly owner: string
  /** Who makes room for whom: of those without a name, whoever comes from the same address. */
  readonly group: string
}

export interface Sessions {
  /** Answers a request that begins a session, or belongs to one. */
  handle(request: SessionRequest): Promise<Response>
  /** Tells all of them that there are other tools now. */
  toolsChanged(): void
  close(): Promise<void>
}

interface Session {
  readonly owner: string
  readonly group: string
  readonly mcp: McpServer
  readonly transport: WebStandardStreamableHTTPServerTransport
  /** Answers that are under way. */
  busy: number
  usedAt: number
}

const usual: SessionLimits = { most: 2_000, mostOfGroup: 200, idleMs: 30 * 60_000 }
const sweepMs = 60_000

export function createSessions({ create, monotonicNow, limits }: SessionsParts): Sessions {
  const { most, mostOfGroup, idleMs } = { ...usual, ...limits }
  const sessions = new Map<string, Session>()
  const timer = setInterval(sweep, Math.min(sweepMs, idleMs)).unref()

  function sweep(): void {
    for (const [id, session] of sessions)
      if (session.busy === 0 && monotonicNow() - session.usedAt > idleMs) end(id, session)
  }

  function end(id: string, { mcp }: Session): void {
    sessions.delete(id)
    mcp.close().catch(() => {})
  }

  /** Whether there is room for one more of this group; the one that was not used for longest makes it. */
  function makeRoom(group: string): boolean {
    const own = [...sessions].filter(([, session]) => session.group === group)
    if (own.length < mostOfGroup && sessions.size < most) return true
    const [eldest] = own.filter(([, { busy }]) => busy === 0).sort(([, a], [, b]) => a.usedAt - b.usedAt)
    if (eldest === undefined) return false
    end(...eldest)
    return true
  }

  async function begin({ request, parsedBody, authInfo, owner, group }: SessionRequest): Promise<Response> {
    if (!makeRoom(group)) return refusal(503, 'There are too many sessions: end one, or come again later')
    const mcp = create()
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, session),
      onsessionclosed: (id) => void sessions.delete(id),
    })
    const session: Session = { owner, group, mcp, transport, busy: 0, usedAt: monotonicNow() }
    await mcp.connect(transport)
    const response = await watched(session, () => transport.handleRequest(request, { parsedBody, authInfo }))
    // What was no good beginning leaves nothing behind.
    if (transport.sessionId === undefined || !sessions.has(transport.sessionId)) await mcp.close().catch(() => {})
    return response
  }

  /** A session in the middle of an answer is in use. */
  async function watched(session: Session, answer: () => Promise<Response>): Promise<Response> {
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
      // Somebody else's is not there.
      if (session === undefined || session.owner !== owner) return refusal(404, 'Session not found', -32_001)
      return watched(session, () => session.transport.handleRequest(request, { parsedBody, authInfo }))
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

/** The same bytes; tells when the last is out, or nobody reads on. */
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
