/** `/metrics` for Prometheus: public on loopback, otherwise for the admin key, unless configured differently. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AgentLog } from '@parley/a2a'
import type { Middleware } from '@parley/a2a/node'
import { senderOf, type RateLimiter } from '../../limits/rate-limiter.ts'
import type { MetricRegistry } from './metric-registry.ts'
import { prometheusText, prometheusType } from './prometheus.ts'

export interface MetricsRouteDeps {
  readonly registry: Pick<MetricRegistry, 'collect'>
  /** Whether every client that reaches the hub may read them. */
  readonly isPublic: boolean
  isAdmin(key: string): boolean
  /** Slows down guessing. */
  readonly limiter: RateLimiter
  readonly log: AgentLog
}

const path = '/metrics'
/** Rate of wrong keys from one address. */
const failedKeyRate = { count: 20, windowMs: 60_000 }

export function createMetricsRoute(parts: MetricsRouteDeps): Middleware {
  return (request, response) => {
    const { url = '' } = request
    if (url !== path && !url.startsWith(`${path}?`)) return false
    answer(request, response).catch((cause: unknown) => {
      parts.log.error('metrics could not be rendered', { cause })
      response.destroy()
    })
    return true
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET' } = request
    if (method !== 'GET' && method !== 'HEAD') return end(response, 405, { allow: 'GET, HEAD' })
    if (!canRead(request)) return refuse(request, response)
    const text = prometheusText(await parts.registry.collect())
    response.writeHead(200, { 'content-type': prometheusType, 'cache-control': 'no-store' })
    response.end(method === 'HEAD' ? undefined : text)
  }

  function refuse({ socket }: IncomingMessage, response: ServerResponse): void {
    const rateStatus = parts.limiter.take([{ key: `guess:${senderOf(socket.remoteAddress)}`, rate: failedKeyRate }])
    if (rateStatus?.isAllowed !== false) return end(response, 401, { 'www-authenticate': 'Bearer realm="parley"' })
    const seconds = Math.max(1, Math.ceil(rateStatus.retryAfterMs / 1_000))
    end(response, 429, { 'retry-after': String(seconds) })
  }

  function canRead({ headers }: IncomingMessage): boolean {
    if (parts.isPublic) return true
    const key = /^Bearer (.*)$/i.exec(headers.authorization ?? '')?.[1]?.trim()
    return key !== undefined && parts.isAdmin(key)
  }
}

function end(response: ServerResponse, status: number, headers: Record<string, string>): void {
  response.writeHead(status, { 'content-length': 0, 'cache-control': 'no-store', ...headers }).end()
}
