/** The entry point of admin requests: sign-in, keys and audit, and the routes that are passed in. */
import type { AgentLog } from '@parley/a2a'
import type { HandlerReaders } from '@parley/a2a/internal'
import type { AccessControl } from '../auth/access-control.ts'
import type { AdminRoute } from './route.ts'
import { type AdminMiddleware, createAdminRouter } from './admin-router.ts'
import { createAdminGuard } from './admin-guard.ts'
import type { RouteRequest } from '../http/route-request.ts'
import { auditRoutes } from './routes/audit.ts'
import { keyRoutes } from './routes/keys.ts'
import { ownKeyRoutes } from './routes/own-keys.ts'
import { sessionRoutes } from './routes/session.ts'

interface AdminHandlerDeps {
  readonly access: AccessControl
  readonly log: AgentLog
  readonly now: () => number
  /** The public URL of the hub, if configured. */
  publicUrl(): string | undefined
  hasAgent(name: string): boolean
  /** JSON values in one body (`limits.jsonNodes`). Default 100,000. */
  jsonNodes?(): number | undefined
  agentNames(): readonly string[]
  readers(): Promise<Pick<HandlerReaders, 'openMemory'>>
  /** Whether the hub serves its console. */
  hasConsole(): boolean
}

interface AdminHandler {
  readonly middleware: AdminMiddleware
  readonly routes: readonly AdminRoute[]
}

export function createAdminHandler(parts: AdminHandlerDeps, moreRoutes: readonly AdminRoute[] = []): AdminHandler {
  const { access, log, now, hasAgent, agentNames, jsonNodes, readers, hasConsole } = parts
  const { keys, audit, streams, trustsProxy } = access
  const routes = [
    ...sessionRoutes({
      access,
      isSecure: (request) => isSecureRequest(request, parts),
      hasConsole,
      publicUrl: parts.publicUrl,
    }),
    ...keyRoutes({ keys, now, agentNames }),
    ...ownKeyRoutes({ keys, now }),
    ...auditRoutes(audit, keys),
    ...moreRoutes,
  ]
  const front = createAdminRouter({
    routes,
    guard: createAdminGuard(access),
    audit,
    log,
    now,
    trustsProxy,
    streams,
    hasAgent,
    readers,
    ...(jsonNodes !== undefined ? { jsonNodes } : {}),
  })
  return { middleware: front, routes }
}

/** Whether the browser came over TLS: to the hub, or to a proxy in front of it. */
export function isSecureRequest(
  request: RouteRequest,
  { access, publicUrl }: Pick<AdminHandlerDeps, 'access' | 'publicUrl'>,
): boolean {
  if (request.isEncrypted) return true
  const forwarded = request.header('x-forwarded-proto')?.split(',').at(-1)?.trim()
  if (access.trustsProxy() && forwarded === 'https') return true
  const { protocol, host } = new URL(publicUrl() ?? 'http://hub.invalid')
  return protocol === 'https:' && request.header('host')?.toLowerCase() === host
}
