/**
 * Connections to one MCP server, one for each conversation of each caller, so that no conversation shares the state of
 * another. An idle connection is closed and opened again on demand. A connection on which the server announces changes
 * stays open.
 */
import { A2AError } from '@parley/a2a'
import type { McpConnection } from './connection.ts'

export interface McpConnectionPool {
  /** Uses the connection of that session, which stays open at least until the work is done. */
  use<T>(key: string, work: (connection: McpConnection) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export interface McpConnectionPoolOptions {
  open(): McpConnection
  readonly idleMs: number
  /** Maximum number of connections. Default 64. */
  readonly max?: number
}

interface PooledConnection {
  readonly connection: McpConnection
  users: number
  idle: NodeJS.Timeout | undefined
}

export function createMcpConnectionPool({ open, idleMs, max = 64 }: McpConnectionPoolOptions): McpConnectionPool {
  // In the order of their last use.
  const sessions = new Map<string, PooledConnection>()
  const ending = new Set<Promise<void>>()
  let isClosed = false

  function end(key: string, { connection, idle }: PooledConnection): void {
    clearTimeout(idle)
    sessions.delete(key)
    const ended = connection.close().catch(() => {})
    ending.add(ended)
    void ended.then(() => ending.delete(ended))
  }

  function sessionFor(key: string): PooledConnection {
    const known = sessions.get(key)
    if (known === undefined) evictIdle()
    const session = known ?? { connection: open(), users: 0, idle: undefined }
    sessions.delete(key)
    sessions.set(key, session)
    return session
  }

  function evictIdle(): void {
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
        if (session.users === 0 && sessions.get(key) === session && !session.connection.hasToolChangeNotifications) {
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
