/**
 * Connections to one MCP server, one for each conversation of each caller: what a server remembers of one is nobody
 * else's. One that is not used for a while is closed, and made anew when it is needed again; one over which the server
 * would tell what is new stays.
 */
import { A2AError } from '@parley/a2a'
import type { McpConnection } from './connection.ts'

export interface McpSessions {
  /** The connection of that session, which stays open at least as long as the work. */
  use<T>(key: string, work: (connection: McpConnection) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export interface McpSessionsOptions {
  open(): McpConnection
  readonly idleMs: number
  /** How many at once. Default 64. */
  readonly max?: number
}

interface Session {
  readonly connection: McpConnection
  users: number
  idle: NodeJS.Timeout | undefined
}

export function mcpSessions({ open, idleMs, max = 64 }: McpSessionsOptions): McpSessions {
  // In the order of their last use.
  const sessions = new Map<string, Session>()
  const ending = new Set<Promise<void>>()
  let isClosed = false

  function end(key: string, { connection, idle }: Session): void {
    clearTimeout(idle)
    sessions.delete(key)
    const ended = connection.close().catch(() => {})
    ending.add(ended)
    void ended.then(() => ending.delete(ended))
  }

  function sessionFor(key: string): Session {
    const known = sessions.get(key)
    if (known === undefined) makeRoom()
    const session = known ?? { connection: open(), users: 0, idle: undefined }
    sessions.delete(key)
    sessions.set(key, session)
    return session
  }

  function makeRoom(): void {
    if (sessions.size < max) return
    const idle = [...sessions].find(([, { users }]) => users === 0)
    if (idle === undefined)
      throw new A2AError('RATE_LIMITED', 'Too many conversations use these tools: try again later')
    end(...idle)
  }

  return {
    async use(key, work) {
      if (isClosed) throw new A2AError('AGENT_UNAVAILABLE', 'The agent is being closed')
      const session = sessionFor(key)
      session.users += 1
      clearTimeout(session.idle)
      try {
        return await work(session.connection)
      } finally {
        session.users -= 1
        if (session.users === 0 && sessions.get(key) === session && !session.connection.isTold) {
          session.idle = setTimeout(() => end(key, session), idleMs)
          session.idle.unref()
        }
      }
    },
    async close() {
      isClosed = true
      for (const [key, session] of sessions) end(key, session)
      await Promise.all(ending)
    },
  }
}
