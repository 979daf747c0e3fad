/**
 * An MCP server as agents use it: a connection for each conversation, and one that belongs to nobody's, by which the hub
 * looks at what the server offers and hears when that changes. Programs that an earlier hub left behind are ended first.
 */
import type { Turn } from '@parley/a2a'
import type { KindParts } from '../kind.ts'
import { openPrograms } from '../programs/leftovers.ts'
import { sessionKeyOf } from '../session-key.ts'
import { mcpConnection } from './connection.ts'
import type { McpConnection, McpMemory } from './connection.ts'
import { serverOf } from './server.ts'
import type { McpServerEntry } from './server.ts'
import { mcpSessions } from './sessions.ts'

export interface McpBackend {
  /** For people: `npx some-server`, `tools.example.com`. */
  readonly label: string
  /** By the connection of the turn's conversation. */
  use<T>(turn: Turn, work: (connection: McpConnection) => Promise<T>): Promise<T>
  /** By the one that is in nobody's conversation. */
  look<T>(work: (connection: McpConnection) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export type BackendParts = Pick<KindParts, 'baseDir' | 'fetch' | 'log' | 'name' | 'notes' | 'programEnv' | 'jsonNodes'>

const graceMs = 2_000

export function openBackend(entry: McpServerEntry, parts: BackendParts, onToolsChanged?: () => void): McpBackend {
  const { log, name } = parts
  const server = serverOf(entry, parts)
  const memory: McpMemory = {}
  const programs = openPrograms(parts.notes, log)
  const cleared =
    'command' in server
      ? programs
          .endLeftovers(graceMs)
          .catch((cause: unknown) => log.warn('programs that an earlier hub left could not be looked for', { cause }))
      : Promise.resolve()

  const open = (watches: boolean): McpConnection =>
    mcpConnection(server, {
      fetch: parts.fetch,
      log,
      connectTimeoutMs: entry.connectTimeout,
      memory,
      start: programs.start,
      limitBytes: entry.answerLimit,
      ...(parts.jsonNodes !== undefined ? { jsonNodes: parts.jsonNodes } : {}),
      mayAsk: !entry.shared,
      ...(watches && onToolsChanged !== undefined ? { onToolsChanged } : {}),
    })
  const idleMs = entry.idleTimeout
  const conversations = mcpSessions({ open: () => open(entry.shared), idleMs, max: entry.connections })
  const own = mcpSessions({ open: () => open(true), idleMs, max: 1 })

  return {
    label: 'command' in server ? server.command.slice(0, 2).join(' ') : new URL(server.url).host,
    async use(turn, work) {
      await cleared
      return conversations.use(entry.shared ? 'shared' : sessionKeyOf(turn, name), work)
    },
    async look(work) {
      await cleared
      return entry.shared ? conversations.use('shared', work) : own.use('own', work)
    },
    async close() {
      await Promise.all([cleared, conversations.close(), own.close()])
      await programs.settled()
    },
  }
}
