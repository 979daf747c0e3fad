/** Connects our own client to an agent of this hub, in the chosen version and binding. Loaded when first needed. */
import type { Json } from '@parley/a2a'
import type { Fetch, RemoteAgent, VersionId } from '@parley/a2a/client'
import type { BindingName } from '../../components/binding-titles.ts'
import { csrfToken } from '../../api/session-state.ts'
import { Problem } from '../../api/problem.ts'
import { createRecordedFetch } from './protocol/recorded-fetch.ts'
import type { ProtocolLog } from './protocol/protocol-log.ts'

export interface ProtocolChoice {
  readonly version: VersionId
  readonly binding: BindingName
}

export interface AgentConnections {
  connect(name: string, way: ProtocolChoice): Promise<RemoteAgent>
  /** Redacts these values in the protocol log, until the returned function is called. */
  hideSecrets(secrets: readonly Json[]): () => void
}

/** A hub that restarts is back within seconds; one under repair, within minutes. */
const limits = { attempts: 200, firstDelayMs: 250, maxDelayMs: 2_000, idleTimeoutMs: 45_000 }

export function createAgentConnections(log: ProtocolLog): AgentConnections {
  let hidden: readonly Json[] = []
  const fetch: Fetch = createRecordedFetch({ log, origin: location.origin, csrf: csrfToken, secrets: () => hidden })
  const known = new Map<string, Promise<RemoteAgent>>()

  async function connected(name: string, { version, binding }: ProtocolChoice): Promise<RemoteAgent> {
    const { connect } = await import('@parley/a2a/client')
    const address = `${location.origin}/a2a/${encodeURIComponent(name)}`
    return connect(address, { fetch, version, prefer: [binding], limits })
  }

  return {
    connect(name, way) {
      const key = [name, way.version, way.binding].join(' ')
      const before = known.get(key)
      if (before !== undefined) return before
      const found = connected(name, way)
      known.set(key, found)
      // The next call connects again.
      found.catch(() => known.delete(key))
      return found
    },
    hideSecrets(secrets) {
      hidden = secrets
      return () => {
        hidden = []
      }
    },
  }
}

/** Converts an error of the client to a Problem. */
export function clientProblem(reason: unknown, what: string): Problem {
  if (reason instanceof Problem) return reason
  const { message, code } =
    reason instanceof Error ? (reason as Error & { code?: unknown }) : { message: String(reason) }
  const request = typeof code === 'string' ? `${what} · ${code}` : what
  return new Problem(message, { code: 'INTERNAL', request, cause: reason })
}

export function errorCodeOf(reason: unknown): string {
  const code = reason instanceof Error ? (reason as Error & { code?: unknown }).code : undefined
  return typeof code === 'string' ? code : ''
}
