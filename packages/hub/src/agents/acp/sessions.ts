/**
 * Which session of the agent a conversation is. Kept in notes, so that it is found again after a restart: it is then loaded
 * where the agent can, and begun anew where it cannot.
 */
import { mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { McpServer, NewSessionResponse, SessionUpdate } from '@agentclientprotocol/sdk'
import { A2AError } from '@parley/a2a'
import type { AgentLog, Json, Notes } from '@parley/a2a'
import type { AcpEntry } from './entry.ts'
import type { Peer } from './peer.ts'
import type { Replay } from './replay.ts'
import { createReplay } from './replay.ts'

export interface Session {
  readonly id: string
  readonly cwd: string
}

export interface Sessions {
  /** The session of a conversation. `isLost`: there was one before, and it could not be had again. */
  open(key: string, peer: Peer): Promise<{ readonly session: Session; readonly isLost: boolean }>
  /** The same one, with what the agent tells of its past. Rejects if it cannot be had. */
  load(key: string, id: string, peer: Peer): Promise<{ readonly session: Session; readonly replay: Replay }>
  /** It does not do as it should: the next message gets it from the agent anew. */
  drop(key: string): void
  /** The turn is over: it is closed after a while. */
  rest(key: string): void
  folderOf(sessionId: string): string | undefined
  close(): void
}

export interface SessionParts {
  readonly entry: AcpEntry
  readonly baseDir: string
  readonly notes: Notes
  readonly log: AgentLog
  readonly now: () => number
  /** Tells what the agent says of a session, for as long as nobody calls what this answers. */
  listen(sessionId: string, heard: (update: SessionUpdate) => void): () => void
}

interface Live {
  readonly session: Session
  readonly peer: Peer
  idle?: NodeJS.Timeout
}

const kind = 'session'
/** A conversation that nobody went on with for so long is forgotten. */
const keptMs = 90 * 86_400_000

export function createSessions(parts: SessionParts): Sessions {
  const { entry, baseDir, notes, log, now, listen } = parts
  const live = new Map<string, Live>()
  const mcpServers = entry.mcpServers.map(mcpServer)

  async function folder(key: string): Promise<string> {
    const cwd = resolve(baseDir, entry.cwd.replaceAll('{session}', key))
    if (entry.cwd.includes('{session}')) await mkdir(cwd, { recursive: true, mode: 0o700 })
    return cwd
  }

  function remember(key: string, { id, cwd }: Session): Promise<unknown> {
    return notes.write(kind, { key, value: { id, cwd }, expiresAt: now() + keptMs })
  }

  async function begin(key: string, peer: Peer): Promise<Session> {
    const cwd = await folder(key)
    const made = await peer.agent.request('session/new', { cwd, mcpServers })
    const session = { id: made.sessionId, cwd }
    await configure(peer, session.id, made)
    await remember(key, session)
    return session
  }

  /** Answers nothing where the agent has no way to. */
  async function again(session: Session, peer: Peer): Promise<Replay | undefined> {
    const { id: sessionId, cwd } = session
    const replay = createReplay()
    const { loadSession, sessionCapabilities } = peer.capabilities
    const stop = listen(sessionId, replay.add)
    try {
      if (loadSession === true) {
        await configure(peer, sessionId, await peer.agent.request('session/load', { sessionId, cwd, mcpServers }))
      } else if (can(sessionCapabilities?.resume)) {
        await configure(peer, sessionId, await peer.agent.request('session/resume', { sessionId, cwd, mcpServers }))
      } else return undefined
      return replay
    } finally {
      stop()
    }
  }

  async function configure(
    peer: Peer,
    sessionId: string,
    told: Partial<NewSessionResponse> | undefined,
  ): Promise<void> {
    const { mode, model, options } = entry
    if (mode !== undefined && told?.modes?.currentModeId !== mode) {
      await peer.agent.request('session/set_mode', { sessionId, modeId: mode })
    }
    const offered = told?.configOptions ?? []
    const wanted = { ...options, ...(model !== undefined ? { [modelOption(offered)]: model } : {}) }
    for (const [configId, value] of Object.entries(wanted)) {
      if (offered.find(({ id }) => id === configId)?.currentValue === value) continue
      const choice = typeof value === 'boolean' ? { type: 'boolean' as const, value } : { value }
      await peer.agent.request('session/set_config_option', { sessionId, configId, ...choice })
    }
  }

  function use(key: string, session: Session, peer: Peer): Session {
    clearTimeout(live.get(key)?.idle)
    live.set(key, { session, peer })
    return session
  }

  return {
    async open(key, peer) {
      const there = live.get(key)
      if (there?.peer === peer) {
        clearTimeout(there.idle)
        return { session: there.session, isLost: false }
      }
      const noted = sessionIn((await notes.read(kind, key))?.value)
      if (noted === undefined) return { session: use(key, await begin(key, peer), peer), isLost: false }
      const replay = await again(noted, peer).catch((cause: unknown) => {
        log.warn('a session could not be loaded; another one is begun', { cause })
        return undefined
      })
      if (replay === undefined) return { session: use(key, await begin(key, peer), peer), isLost: true }
      await remember(key, noted)
      return { session: use(key, noted, peer), isLost: false }
    },
    async load(key, id, peer) {
      const session = { id, cwd: await folder(key) }
      const replay = await again(session, peer)
      if (replay === undefined) {
        throw new A2AError('AGENT_UNAVAILABLE', 'The agent cannot go on with what a restart interrupted')
      }
      await remember(key, session)
      return { session: use(key, session, peer), replay }
    },
    drop(key) {
      clearTimeout(live.get(key)?.idle)
      live.delete(key)
    },
    rest(key) {
      const one = live.get(key)
      if (one === undefined) return
      const { capabilities, agent } = one.peer
      const comesBack = capabilities.loadSession === true || can(capabilities.sessionCapabilities?.resume)
      // What could not be had again stays, however idle.
      if (!comesBack) return
      clearTimeout(one.idle)
      one.idle = setTimeout(() => {
        if (live.get(key) === one) live.delete(key)
        if (!can(capabilities.sessionCapabilities?.close)) return
        agent.request('session/close', { sessionId: one.session.id }).catch(() => {})
      }, entry.idleTimeout)
      one.idle.unref()
    },
    folderOf(sessionId) {
      for (const { session } of live.values()) if (session.id === sessionId) return session.cwd
      return undefined
    },
    close() {
      for (const { idle } of live.values()) clearTimeout(idle)
      live.clear()
    },
  }
}

/** An agent says what it can by an object, which may be empty. */
const can = (capability: object | null | undefined): boolean => (capability ?? undefined) !== undefined

function sessionIn(value: Json | undefined): Session | undefined {
  const { id, cwd } = (value ?? {}) as { readonly id?: Json; readonly cwd?: Json }
  return typeof id === 'string' && typeof cwd === 'string' ? { id, cwd } : undefined
}

/** The option that chooses the model, whatever its id. */
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
