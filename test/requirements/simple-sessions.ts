/** The dependencies of a program of the simple module: a database of agents and sessions, and a process manager. */
import type { A2ATaskDeps } from '@parley/a2a/simple'

interface Agent {
  readonly id: string
  readonly name: string
  readonly defaultProjectId: string | null
}

export interface Session {
  readonly id: string
  readonly agentId: string
  readonly projectId: string
  readonly source: string
  readonly initialPrompt: string
}

type Listener = (sessionId: string, event: unknown) => void

export class Database {
  readonly sessions: Session[] = []
  readonly agents: readonly Agent[]

  constructor(...agents: readonly Agent[]) {
    this.agents = agents
  }
}

export class ProcessManager {
  readonly started: { readonly session: Session; readonly prompt: string }[] = []
  readonly #listeners = new Map<string, Set<Listener>>()

  subscribe(sessionId: string, listener: Listener): void {
    this.#listeners.set(sessionId, (this.#listeners.get(sessionId) ?? new Set()).add(listener))
  }

  unsubscribe(sessionId: string, listener: Listener): void {
    this.#listeners.get(sessionId)?.delete(listener)
  }

  startProcess(session: Session, prompt: string): void {
    this.started.push({ session, prompt })
  }

  emit(sessionId: string | null, event: unknown): void {
    for (const listener of this.#listeners.get(sessionId ?? '') ?? []) listener(sessionId ?? '', event)
  }

  listeners(sessionId: string | null): number {
    return this.#listeners.get(sessionId ?? '')?.size ?? 0
  }
}

export const ada: Agent = { id: 'a1', name: 'Ada', defaultProjectId: null }
export const grace: Agent = { id: 'a2', name: 'Grace', defaultProjectId: 'p1' }
export const edsger: Agent = { id: 'a3', name: 'Edsger', defaultProjectId: 'p2' }

/** The same with the functions of the database passed one by one, as S0-6 requires. */
export function depsOf(db: Database, processManager: ProcessManager): A2ATaskDeps<Database> {
  return {
    db,
    processManager,
    listAgents: ({ agents }) => agents,
    createSession({ sessions }, { agentId, projectId, source, initialPrompt }) {
      const session = { id: `s${sessions.length + 1}`, agentId, projectId, source, initialPrompt }
      sessions.push(session)
      return session
    },
  }
}
