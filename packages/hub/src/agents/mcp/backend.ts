/**
 * An MCP server as agents use it: one connection per conversation, and a separate one by which the hub inspects the server
 * and learns of changes. Orphaned programs of an earlier hub are ended first.
 */
import { type Turn, A2AError } from '@parley/a2a'
import { sessionKey } from '@parley/a2a/internal'
import type { AgentServices } from '../kind.ts'
import { createProgramManager } from '../programs/program-manager.ts'
import { createMcpConnection, type McpConnection, type McpDiscoveryCache } from './connection.ts'
import { resolveMcpServer, type McpServerEntry } from './server.ts'

export interface McpBackend {
  /** Name for people: `npx some-server`, `tools.example.com`. */
  readonly label: string
  /** Uses the connection of the turn's conversation. */
  use<T>(turn: Turn, work: (connection: McpConnection) => Promise<T>): Promise<T>
  /** Uses the separate connection, which belongs to no conversation. */
  inspect<T>(work: (connection: McpConnection) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export type McpBackendDeps = Pick<
  AgentServices,
  'baseDir' | 'fetch' | 'log' | 'name' | 'kv' | 'programEnv' | 'jsonNodes'
>

const graceMs = 2_000

export function openMcpBackend(entry: McpServerEntry, deps: McpBackendDeps, onToolsChanged?: () => void): McpBackend {
  const { log, name } = deps
  const server = resolveMcpServer(entry, deps)
  const memory: McpDiscoveryCache = {}
  const programs = createProgramManager(deps.kv, log)
  const orphansEnded =
    'command' in server
      ? programs
          .endOrphans(graceMs)
          .catch((cause: unknown) => log.warn('programs left by an earlier hub could not be listed', { cause }))
      : Promise.resolve()

  const open = (watchesTools: boolean): McpConnection =>
    createMcpConnection(server, {
      fetch: deps.fetch,
      log,
      connectTimeoutMs: entry.connectTimeout,
      discoveryCache: memory,
      start: programs.start,
      limitBytes: entry.answerLimit,
      ...(deps.jsonNodes !== undefined ? { jsonNodes: deps.jsonNodes } : {}),
      canElicit: !entry.shared,
      ...(watchesTools && onToolsChanged !== undefined ? { onToolsChanged } : {}),
    })
  const idleMs = entry.idleTimeout
  const conversations = createMcpConnectionPool({ open: () => open(entry.shared), idleMs, max: entry.connections })
  const inspectionPool = createMcpConnectionPool({ open: () => open(true), idleMs, max: 1 })

  return {
    label: 'command' in server ? server.command.slice(0, 2).join(' ') : new URL(server.url).host,
    async use(turn, work) {
      await orphansEnded
      return conversations.use(entry.shared ? 'shared' : sessionKey(turn, name), work)
    },
    async inspect(work) {
      await orphansEnded
      return entry.shared ? conversations.use('shared', work) : inspectionPool.use('own', work)
    },
    async close() {
      await Promise.all([orphansEnded, conversations.close(), inspectionPool.close()])
      await programs.settled()
    },
  }
}

/**
 * Connections to one MCP server, one for each conversation of each caller, so that no conversation shares the state of
 * another. An idle connection is closed and opened again on demand. A connection on which the server announces changes
 * stays open.
 */
interface McpConnectionPool {
  /** Uses the connection of that session, which stays open at least until the work is done. */
  use<T>(key: string, work: (connection: McpConnection) => Promise<T>): Promise<T>
  close(): Promise<void>
}

interface McpConnectionPoolOptions {
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
