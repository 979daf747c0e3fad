/** Our own client, on the way to an agent of this hub: in the version and binding that were chosen. Loaded when it is first needed. */
import type { Json } from '@parley/a2a'
import type { Fetch, RemoteAgent } from '@parley/a2a/client'
import { csrfToken } from '../../api/session-state.ts'
import { Problem } from '../../api/problem.ts'
import { recordedFetch } from './wire/recorded-fetch.ts'
import type { WireLog } from './wire/wire-log.ts'

export const versions = ['1.0', '0.3', '0.2'] as const
export type Version = (typeof versions)[number]
export const bindings = ['JSONRPC', 'HTTP+JSON', 'GRPC'] as const
export type Binding = (typeof bindings)[number]

export interface Way {
  readonly version: Version
  readonly binding: Binding
}

export interface Reach {
  agent(name: string, way: Way): Promise<RemoteAgent>
  /** Until the function that is answered is called, these are not to be seen on the wire. */
  hide(secrets: readonly Json[]): () => void
}

/** A hub that is restarted is back within seconds; one that is repaired, within minutes. */
const limits = { attempts: 200, firstDelayMs: 250, maxDelayMs: 2_000, idleTimeoutMs: 45_000 }

export function createReach(log: WireLog): Reach {
  let hidden: readonly Json[] = []
  const fetch: Fetch = recordedFetch({ log, origin: location.origin, csrf: csrfToken, secrets: () => hidden })
  const known = new Map<string, Promise<RemoteAgent>>()

  async function connected(name: string, { version, binding }: Way): Promise<RemoteAgent> {
    const { connect } = await import('@parley/a2a/client')
    const address = `${location.origin}/a2a/${encodeURIComponent(name)}`
    return connect(address, { fetch, version, prefer: [binding], limits })
  }

  return {
    agent(name, way) {
      const key = [name, way.version, way.binding].join(' ')
      const before = known.get(key)
      if (before !== undefined) return before
      const found = connected(name, way)
      known.set(key, found)
      // The next one tries again.
      found.catch(() => known.delete(key))
      return found
    },
    hide(secrets) {
      hidden = secrets
      return () => {
        hidden = []
      }
    },
  }
}

/** What the client says went wrong, as the console shows it. */
export function troubleOf(reason: unknown, what: string): Problem {
  if (reason instanceof Problem) return reason
  const { message, code } =
    reason instanceof Error ? (reason as Error & { code?: unknown }) : { message: String(reason) }
  const request = typeof code === 'string' ? `${what} · ${code}` : what
  return new Problem(message, { code: 'INTERNAL', request, cause: reason })
}

export function codeOf(reason: unknown): string {
  const code = reason instanceof Error ? (reason as Error & { code?: unknown }).code : undefined
  return typeof code === 'string' ? code : ''
}
