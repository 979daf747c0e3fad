/** A minimal OTLP collector over HTTP: it keeps the spans and metrics that it receives as JSON. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { guardMs } from '../../packages/a2a/src/testing/fixtures/eventually.ts'

export type Value = string | number | boolean | readonly Value[] | undefined

/** One span as it was received, with the service that sent it. */
export interface ReceivedSpan {
  readonly service: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly name: string
  readonly kind: number
  /** Milliseconds. */
  readonly startedAt: number
  readonly endedAt: number
  readonly attributes: Readonly<Record<string, Value>>
  readonly events: readonly { readonly name: string; readonly attributes: Readonly<Record<string, Value>> }[]
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly isError: boolean
}

export interface ReceivedMetric {
  readonly service: string
  readonly name: string
  readonly unit: string
  readonly type: 'sum' | 'gauge' | 'histogram'
  readonly points: readonly { readonly attributes: Readonly<Record<string, Value>>; readonly value: number }[]
}

export interface Collector {
  readonly url: string
  readonly spans: readonly ReceivedSpan[]
  readonly metrics: readonly ReceivedMetric[]
  readonly headers: readonly IncomingMessage['headers'][]
  /** Resolves when the spans so far match; fails after ten seconds with the received ones. */
  until(fits: (spans: readonly ReceivedSpan[]) => boolean, what: string): Promise<readonly ReceivedSpan[]>
  /** From now on it does not respond. */
  hang(): void
  /** Close the hubs first: the last spans of a hub without its collector take three seconds. */
  close(): void
}

export async function openCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = []
  const metrics: ReceivedMetric[] = []
  const headers: IncomingMessage['headers'][] = []
  const waiting = new Set<() => void>()
  let isHanging = false

  const server = createServer((request, response) => {
    void (async () => {
      const body = await bodyOf(request)
      headers.push(request.headers)
      if (isHanging) return
      if (request.url === '/v1/traces') spans.push(...spansIn(body as TracesBody))
      else if (request.url === '/v1/metrics') metrics.push(...metricsIn(body as MetricsBody))
      else return response.writeHead(404).end()
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
      for (const look of waiting) look()
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    metrics,
    headers,
    hang: () => void (isHanging = true),
    close() {
      server.closeAllConnections()
      server.close()
    },
    until(fits, what) {
      return new Promise((resolve, reject) => {
        const late = setTimeout(() => {
          waiting.delete(look)
          const came = spans.map(({ service, name }) => `${service}: ${name}`).join('\n')
          reject(new Error(`waited in vain for ${what}; what came:\n${came}`))
        }, guardMs)
        const look = (): void => {
          if (!fits(spans)) return
          clearTimeout(late)
          waiting.delete(look)
          resolve([...spans])
        }
        waiting.add(look)
        look()
      })
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = []
  for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece)
  return JSON.parse(Buffer.concat(pieces).toString())
}

interface AnyValue {
  readonly stringValue?: string
  readonly intValue?: string | number
  readonly doubleValue?: number
  readonly boolValue?: boolean
  readonly arrayValue?: { readonly values: readonly AnyValue[] }
}
interface KeyValue {
  readonly key: string
  readonly value: AnyValue
}
interface TracesBody {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] }
    readonly scopeSpans: readonly { readonly spans: readonly SpanBody[] }[]
  }[]
}
interface SpanBody {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly KeyValue[]
  readonly events?: readonly { readonly name: string; readonly attributes: readonly KeyValue[] }[]
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly status: { readonly code: number }
}

function spansIn({ resourceSpans }: TracesBody): readonly ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(attributesOf(resource.attributes)['service.name'])
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => spanOf(service, span)))
  })
}

function spanOf(service: string, span: SpanBody): ReceivedSpan {
  assert.match(span.traceId, /^[\da-f]{32}$/)
  assert.match(span.spanId, /^[\da-f]{16}$/)
  const ms = (nanos: string): number => Number(BigInt(nanos) / 1_000_000n)
  return {
    service,
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId ?? '',
    name: span.name,
    kind: span.kind,
    startedAt: ms(span.startTimeUnixNano),
    endedAt: ms(span.endTimeUnixNano),
    attributes: attributesOf(span.attributes),
    events: (span.events ?? []).map(({ name, attributes }) => ({ name, attributes: attributesOf(attributes) })),
    links: span.links ?? [],
    isError: span.status.code === 2,
  }
}

interface MetricsBody {
  readonly resourceMetrics: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] }
    readonly scopeMetrics: readonly { readonly metrics: readonly MetricBody[] }[]
  }[]
}
interface Points {
  readonly dataPoints: readonly {
    readonly attributes: readonly KeyValue[]
    readonly asDouble?: number
    readonly asInt?: string
    readonly count?: string | number
  }[]
}
interface MetricBody {
  readonly name: string
  readonly unit: string
  readonly sum?: Points
  readonly gauge?: Points
  readonly histogram?: Points
}

function metricsIn({ resourceMetrics }: MetricsBody): readonly ReceivedMetric[] {
  return resourceMetrics.flatMap(({ resource, scopeMetrics }) => {
    const service = String(attributesOf(resource.attributes)['service.name'])
    return scopeMetrics.flatMap(({ metrics }) =>
      metrics.map(({ name, unit, sum, gauge, histogram }) => ({
        service,
        name,
        unit,
        type: sum !== undefined ? ('sum' as const) : gauge !== undefined ? ('gauge' as const) : ('histogram' as const),
        points:
          (sum ?? gauge ?? histogram)?.dataPoints.map((point) => ({
            attributes: attributesOf(point.attributes),
            value: Number(point.asDouble ?? point.asInt ?? point.count),
          })) ?? [],
      })),
    )
  })
}

function attributesOf(pairs: readonly KeyValue[] = []): Readonly<Record<string, Value>> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, valueOf(value)]))
}

function valueOf({ stringValue, intValue, doubleValue, boolValue, arrayValue }: AnyValue): Value {
  if (arrayValue !== undefined) return arrayValue.values.map(valueOf)
  if (intValue !== undefined) return Number(intValue)
  return stringValue ?? doubleValue ?? boolValue
}
