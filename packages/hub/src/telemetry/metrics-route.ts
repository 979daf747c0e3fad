/** `/metrics` for Prometheus: open on a machine of one's own, else for the admin key, unless the configuration says otherwise. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AgentLog } from '@parley/a2a'
import type { Front } from '@parley/a2a/node'
import { senderOf } from '../limits/address.ts'
import type { Limiter } from '../limits/limiter.ts'
import type { MetricRegistry } from './metric-registry.ts'
import { prometheusText, prometheusType } from './prometheus.ts'

export interface MetricsRouteParts {
  readonly registry: Pick<MetricRegistry, 'collect'>
  /** Whether anybody may read them who reaches the hub. */
  readonly isOpen: boolean
  isAdmin(key: string): boolean
  /** Whoever guesses is slowed down. */
  readonly limiter: Limiter
  readonly log: AgentLog
}

const path = '/metrics'
/** Wrong keys from one address. */
const guesses = { count: 20, windowMs: 60_000 }

export function createMetricsRoute(parts: MetricsRouteParts): Front {
  return (request, response) => {
    const { url = '' } = request
    if (url !== path && !url.startsWith(`${path}?`)) return false
    answer(request, response).catch((cause: unknown) => {
      parts.log.error('metrics could not be told', { cause })
      response.destroy()
    })
    return true
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET' } = request
    if (method !== 'GET' && method !== 'HEAD') return end(response, 405, { allow: 'GET, HEAD' })
    if (!mayRead(request)) return refuse(request, response)
    const text = prometheusText(await parts.registry.collect())
    response.writeHead(200, { 'content-type': prometheusType, 'cache-control': 'no-store' })
    response.end(method === 'HEAD' ? undefined : text)
  }

  function refuse({ socket }: IncomingMessage, response: ServerResponse): void {
    const standing = parts.limiter.take([{ who: `guess:${senderOf(socket.remoteAddress)}`, rate: guesses }])
    if (standing?.isAllowed !== false) return end(response, 401, { 'www-authenticate': 'Bearer realm="parley"' })
    const seconds = Math.max(1, Math.ceil(standing.retryAfterMs / 1_000))
    end(response, 429, { 'retry-after': String(seconds) })
  }

  function mayRead({ headers }: IncomingMessage): boolean {
    if (parts.isOpen) return true
    const key = /^Bearer (.*)$/i.exec(headers.authorization ?? '')?.[1]?.trim()
    return key !== undefined && parts.isAdmin(key)
  }
}

function end(response: ServerResponse, status: number, headers: Record<string, string>): void {
  response.writeHead(status, { 'content-length': 0, 'cache-control': 'no-store', ...headers }).end()
}
