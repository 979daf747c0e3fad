/**
 * Maps conversations to sessions of the agent. The mapping is in the key-value store. After a restart a session is loaded
 * if the agent supports that, and replaced by a new one otherwise.
 */
import { mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { McpServer, NewSessionResponse, SessionUpdate } from '@agentclientprotocol/sdk'
import { A2AError, type AgentLog, type Json } from '@parley/a2a'
import type { KeyValueStore } from '@parley/a2a/stores'
import type { AcpEntry } from './entry.ts'
import type { AcpPeer } from './peer.ts'
import { type SessionReplay, createSessionReplay } from './session-replay.ts'

export interface AcpSession {
  readonly id: string
  readonly cwd: string
}

export interface AcpSessions {
  /** The session of a conversation. `isLost`: there was an earlier one that could not be loaded. */
  open(key: string, peer: AcpPeer): Promise<{ readonly session: AcpSession; readonly isLost: boolean }>
  /** The same session with its replayed history. Rejects if it cannot be loaded. */
  load(
    key: string,
    id: string,
    peer: AcpPeer,
  ): Promise<{ readonly session: AcpSession; readonly replay: SessionReplay }>
  /** Drops a session that misbehaves: the next message loads it again. */
  forget(key: string): void
  /** Closes the session after an idle time; called when a turn has ended. */
  scheduleClose(key: string): void
  folderOf(sessionId: string): string | undefined
  close(): void
}

export interface AcpSessionsDeps {
  readonly entry: AcpEntry
  readonly baseDir: string
  readonly kv: KeyValueStore
  readonly log: AgentLog
  readonly now: () => number
  /** Delivers updates of a session until the returned function is called. */
  listen(sessionId: string, onUpdate: (update: SessionUpdate) => void): () => void
}

interface ActiveSession {
  readonly session: AcpSession
  readonly peer: AcpPeer
  idle?: NodeJS.Timeout
}

const recordKind = 'session'
/** A conversation that is unused for this long is forgotten. */
const retentionMs = 90 * 86_400_000

export function createAcpSessions(deps: AcpSessionsDeps): AcpSessions {
  const { entry, baseDir, kv, log, now, listen } = deps
  const activeSessions = new Map<string, ActiveSession>()
  const mcpServers = entry.mcpServers.map(mcpServer)

  async function folder(key: string): Promise<string> {
    const cwd = resolve(baseDir, entry.cwd.replaceAll('{session}', key))
    if (entry.cwd.includes('{session}')) await mkdir(cwd, { recursive: true, mode: 0o700 })
    return cwd
  }

  function remember(key: string, { id, cwd }: AcpSession): Promise<unknown> {
    return kv.write(recordKind, { key, value: { id, cwd }, expiresAt: now() + retentionMs })
  }

  async function createSession(key: string, peer: AcpPeer): Promise<AcpSession> {
    const cwd = await folder(key)
    const made = await peer.agent.request('session/new', { cwd, mcpServers })
    const session = { id: made.sessionId, cwd }
    await configure(peer, session.id, made)
    await remember(key, session)
    return session
  }

  /** Returns undefined if the agent cannot load sessions. */
  async function reload(session: AcpSession, peer: AcpPeer): Promise<SessionReplay | undefined> {
    const { id: sessionId, cwd } = session
    const replay = createSessionReplay()
    const { loadSession, sessionCapabilities } = peer.capabilities
    const stop = listen(sessionId, replay.add)
    try {
      if (loadSession === true) {
        await configure(peer, sessionId, await peer.agent.request('session/load', { sessionId, cwd, mcpServers }))
      } else if (isSupported(sessionCapabilities?.resume)) {
        await configure(peer, sessionId, await peer.agent.request('session/resume', { sessionId, cwd, mcpServers }))
      } else return undefined
      return replay
    } finally {
      stop()
    }
  }

  async function configure(
    peer: AcpPeer,
    sessionId: string,
    response: Partial<NewSessionResponse> | undefined,
  ): Promise<void> {
    const { mode, model, options } = entry
    if (mode !== undefined && response?.modes?.currentModeId !== mode) {
      await peer.agent.request('session/set_mode', { sessionId, modeId: mode })
    }
    const offered = response?.configOptions ?? []
    const wanted = { ...options, ...(model !== undefined ? { [modelOption(offered)]: model } : {}) }
    for (const [configId, value] of Object.entries(wanted)) {
      if (offered.find(({ id }) => id === configId)?.currentValue === value) continue
      const choice = typeof value === 'boolean' ? { type: 'boolean' as const, value } : { value }
      await peer.agent.request('session/set_config_option', { sessionId, configId, ...choice })
    }
  }

  function activate(key: string, session: AcpSession, peer: AcpPeer): AcpSession {
    clearTimeout(activeSessions.get(key)?.idle)
    activeSessions.set(key, { session, peer })
    return session
  }

  return {
    async open(key, peer) {
      const active = activeSessions.get(key)
      if (active?.peer === peer) {
        clearTimeout(active.idle)
        return { session: active.session, isLost: false }
      }
      const stored = sessionIn((await kv.read(recordKind, key))?.value)
      if (stored === undefined) return { session: activate(key, await createSession(key, peer), peer), isLost: false }
      const replay = await reload(stored, peer).catch((cause: unknown) => {
        log.warn('a session could not be loaded; starting a new one', { cause })
        return undefined
      })
      if (replay === undefined) return { session: activate(key, await createSession(key, peer), peer), isLost: true }
      await remember(key, stored)
      return { session: activate(key, stored, peer), isLost: false }
    },
    async load(key, id, peer) {
      const session = { id, cwd: await folder(key) }
      const replay = await reload(session, peer)
      if (replay === undefined) {
        throw new A2AError('AGENT_UNAVAILABLE', 'The agent cannot resume the turn that a restart interrupted')
      }
      await remember(key, session)
      return { session: activate(key, session, peer), replay }
    },
    forget(key) {
      clearTimeout(activeSessions.get(key)?.idle)
      activeSessions.delete(key)
    },
    scheduleClose(key) {
      const one = activeSessions.get(key)
      if (one === undefined) return
      const { capabilities, agent } = one.peer
      const isReloadable = capabilities.loadSession === true || isSupported(capabilities.sessionCapabilities?.resume)
      // A session that cannot be loaded again stays open.
      if (!isReloadable) return
      clearTimeout(one.idle)
      one.idle = setTimeout(() => {
        if (activeSessions.get(key) === one) activeSessions.delete(key)
        if (!isSupported(capabilities.sessionCapabilities?.close)) return
        agent.request('session/close', { sessionId: one.session.id }).catch(() => {})
      }, entry.idleTimeout)
      one.idle.unref()
    },
    folderOf(sessionId) {
      for (const { session } of activeSessions.values()) if (session.id === sessionId) return session.cwd
      return undefined
    },
    close() {
      for (const { idle } of activeSessions.values()) clearTimeout(idle)
      activeSessions.clear()
    },
  }
}

/** An agent declares a capability with an object, which may be empty. */
const isSupported = (capability: object | null | undefined): boolean => (capability ?? undefined) !== undefined

function sessionIn(value: Json | undefined): AcpSession | undefined {
  const { id, cwd } = (value ?? {}) as { readonly id?: Json; readonly cwd?: Json }
  return typeof id === 'string' && typeof cwd === 'string' ? { id, cwd } : undefined
}

/** The option that selects the model, whatever its id. */
function modelOption(offered: readonly { readonly id: string; readonly category?: string | null }[]): string {
  return offered.find(({ category }) => category === 'model')?.id ?? 'model'
}

function mcpServer(server: AcpEntry['mcpServers'][number]): McpServer {
  if ('url' in server) {
    const headers = Object.entries(server.headers).map(([name, value]) => ({ name, value }))
    return { type: server.type, name: server.name, url: server.url, headers }
  }
  const [command = '', ...args] = server.command
  return { name: server.name, command, args, env: Object.entries(server.env).map(([name, value]) => ({ name, value })) }
}
