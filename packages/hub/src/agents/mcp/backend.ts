/**
 * An MCP server as agents use it: one connection per conversation, and a separate one by which the hub inspects the server
 * and learns of changes. Orphaned programs of an earlier hub are ended first.
 */
import type { Turn } from '@parley/a2a'
import type { AgentServices } from '../kind.ts'
import { createProgramManager } from '../programs/program-manager.ts'
import { sessionKeyOf } from '../derived-ids.ts'
import { createMcpConnection, type McpConnection, type McpDiscoveryCache } from './connection.ts'
import { resolveMcpServer, type McpServerEntry } from './server.ts'
import { createMcpConnectionPool } from './connection-pool.ts'

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
      return conversations.use(entry.shared ? 'shared' : sessionKeyOf(turn, name), work)
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
