/** `/metrics` for Prometheus: public for this machine, otherwise for the admin key, unless configured differently. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AgentLog } from '@parley/a2a'
import type { Middleware } from '@parley/a2a/node'
import { clientNetwork, isLocalRequest } from '@parley/a2a/internal'
import type { HubConfig } from '../../config/hub-config.ts'
import { isLoopback } from '../../http/serve-options.ts'
import type { RateLimiter } from '../../limits/rate-limiter.ts'
import type { MetricRegistry, HistogramSample, MetricFamily, Sample } from './metric-registry.ts'

export interface MetricsRouteDeps {
  readonly registry: Pick<MetricRegistry, 'collect'>
  /** Whether a client without a key may read them. */
  isPublic(request: IncomingMessage): boolean
  isAdmin(key: string): boolean | Promise<boolean>
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
    if (!(await canRead(request))) return refuse(request, response)
    const text = prometheusText(await parts.registry.collect())
    response.writeHead(200, { 'content-type': prometheusType, 'cache-control': 'no-store' })
    response.end(method === 'HEAD' ? undefined : text)
  }

  function refuse({ socket }: IncomingMessage, response: ServerResponse): void {
    const rateStatus = parts.limiter.take([
      { key: `guess:${clientNetwork(socket.remoteAddress)}`, rate: failedKeyRate },
    ])
    if (rateStatus?.isAllowed !== false) return end(response, 401, { 'www-authenticate': 'Bearer realm="parley"' })
    const seconds = Math.max(1, Math.ceil(rateStatus.retryAfterMs / 1_000))
    end(response, 429, { 'retry-after': String(seconds) })
  }

  async function canRead(request: IncomingMessage): Promise<boolean> {
    if (parts.isPublic(request)) return true
    const key = /^Bearer (.*)$/i.exec(request.headers.authorization ?? '')?.[1]?.trim()
    return key !== undefined && (await parts.isAdmin(key))
  }
}

/**
 * Whether a program of this machine sent the request to a hub that listens on loopback. A reverse proxy on this machine forwards remote
 * clients, which must not read the metrics of a hub whose operator did not set `trustProxy`.
 */
export function isFromThisMachine(
  { headers, socket }: IncomingMessage,
  { listen, publicUrl, trustProxy }: Pick<HubConfig, 'listen' | 'publicUrl' | 'trustProxy'>,
): boolean {
  const header = (name: string): string | undefined => headers[name]?.toString()
  return isLoopback(listen.host) && isLocalRequest({ header, remoteAddress: socket.remoteAddress }, { publicUrl, trustProxy }) // prettier-ignore
}

function end(response: ServerResponse, status: number, headers: Record<string, string>): void {
  response.writeHead(status, { 'content-length': 0, 'cache-control': 'no-store', ...headers }).end()
}

/** The Prometheus text format, version 0.0.4. */
export const prometheusType = 'text/plain; version=0.0.4; charset=utf-8'

export function prometheusText(families: readonly MetricFamily[]): string {
  return families.map(textOf).join('')
}

function textOf(family: MetricFamily): string {
  const { name, help, type } = family
  const head = `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`
  const lines =
    family.type === 'histogram'
      ? family.samples.flatMap((sample) => histogramLines(family.name, family.labels, family.bounds, sample))
      : family.samples.map((sample) => line(name, labelled(family.labels, sample), sample.value))
  return `${head}${lines.join('')}`
}

function histogramLines(
  name: string,
  names: readonly string[],
  bounds: readonly number[],
  sample: HistogramSample,
): readonly string[] {
  const labels = labelled(names, sample)
  let below = 0
  const buckets = [...bounds, Infinity].map((bound, index) => {
    below += sample.counts[index] ?? 0
    return line(`${name}_bucket`, [...labels, ['le', numberText(bound)]], below)
  })
  return [...buckets, line(`${name}_sum`, labels, sample.sum), line(`${name}_count`, labels, sample.count)]
}

type Labels = readonly (readonly [name: string, value: string])[]

function labelled(names: readonly string[], { labels }: Pick<Sample, 'labels'>): Labels {
  return names.map((name, index) => [name.replaceAll('.', '_'), labels[index] ?? ''] as const)
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = labels.map(([label, text]) => `${label}="${escapeLabel(text)}"`)
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${numberText(value)}\n`
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  return Number.isFinite(value) ? String(value) : value > 0 ? '+Inf' : '-Inf'
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"')
}
