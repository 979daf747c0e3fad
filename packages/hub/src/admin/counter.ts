/** Where requests of the admin come in: signing in, keys and the audit, and whatever routes are given beside. */
import type { AgentLog } from '@parley/a2a'
import type { Access } from '../auth/access.ts'
import { createGuard } from './guard.ts'
import type { Route } from './route.ts'
import type { RouteRequest } from './route-request.ts'
import { type AdminFront, createRouter } from './router.ts'
import { auditRoutes } from './routes/audit.ts'
import { keyRoutes } from './routes/keys.ts'
import { ownKeyRoutes } from './routes/own-keys.ts'
import { sessionRoutes } from './routes/session.ts'

export interface CounterParts {
  readonly access: Access
  readonly log: AgentLog
  readonly now: () => number
  /** Where the hub is reached from outside, if the configuration says. */
  publicUrl(): string | undefined
  hasAgent(name: string): boolean
  /** JSON values in one body (`limits.jsonNodes`). Default 100,000. */
  jsonNodes?(): number | undefined
  agentNames(): readonly string[]
}

export interface Counter {
  readonly front: AdminFront
  readonly routes: readonly Route[]
}

export function openCounter(parts: CounterParts, more: readonly Route[] = []): Counter {
  const { access, log, now, hasAgent, agentNames, jsonNodes } = parts
  const { keys, audit, sessions, streams, trustsProxy } = access
  const routes = [
    ...sessionRoutes({ sessions, isSecure: (request) => isSecure(request, parts), trustsProxy }),
    ...keyRoutes({ keys, now, agentNames }),
    ...ownKeyRoutes({ keys, now }),
    ...auditRoutes(audit),
    ...more,
  ]
  const front = createRouter({
    routes,
    guard: createGuard(access),
    audit,
    log,
    now,
    trustsProxy,
    streams,
    hasAgent,
    ...(jsonNodes !== undefined ? { jsonNodes } : {}),
  })
  return { front, routes }
}

/** Whether a browser came by TLS: to us, or to a proxy before us. */
export function isSecure(
  request: RouteRequest,
  { access, publicUrl }: Pick<CounterParts, 'access' | 'publicUrl'>,
): boolean {
  if (request.isEncrypted) return true
  const forwarded = request.header('x-forwarded-proto')?.split(',').at(-1)?.trim()
  if (access.trustsProxy() && forwarded === 'https') return true
  const { protocol, host } = new URL(publicUrl() ?? 'http://hub.invalid')
  return protocol === 'https:' && request.header('host')?.toLowerCase() === host
}
