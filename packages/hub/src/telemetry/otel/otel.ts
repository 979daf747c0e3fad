/**
 * Exports spans and metrics by OTLP over HTTP. A span has the same ids as in the log, so that it matches what callers and backends
 * of agents export. Loaded only if a collector is configured.
 */
import { resultWithin } from '@parley/a2a/internal'
import { ValueType } from '@opentelemetry/api'
import type { Attributes, HrTime } from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes, emptyResource } from '@opentelemetry/resources'
import {
  MeterProvider,
  PeriodicExportingMetricReader,
  AggregationTemporality,
  DataPointType,
} from '@opentelemetry/sdk-metrics'
import type { MetricData, MetricProducer } from '@opentelemetry/sdk-metrics'
import { AlwaysOnSampler, TracerProvider } from '@opentelemetry/sdk-trace'
import { newId, type AgentLog } from '@parley/a2a'
import type { TraceSpan } from '../traces/trace-types.ts'
import type { MetricRegistry, MetricFamily } from '../metrics/metric-registry.ts'
import { createSpanQueue, type SpanQueue } from './span-queue.ts'
import { FixedIdGenerator, exportSpan } from './export-span.ts'

export interface OtlpSettings {
  /** The base of `/v1/traces` and `/v1/metrics`. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly traces: boolean
  /** The share of traces to export, from 0 to 1. */
  readonly sample: number
  readonly intervalMs: number
  readonly service: string
}

export interface OtelDeps {
  /** Absent if metrics are not exported. */
  readonly registry: Pick<MetricRegistry, 'collect'> | undefined
  readonly version: string
  readonly log: AgentLog
  readonly now: () => number
}

export interface Otel {
  onSpan(span: TraceSpan): void
  readonly spans: SpanQueue['counts']
  /** Sends pending data, within a time limit. */
  close(): Promise<void>
}

const timeoutMillis = 10_000
const closeMs = 3_000

export function openOtel(settings: OtlpSettings, parts: OtelDeps): Otel {
  const { registry, log, now } = parts
  const resource = resourceFromAttributes({
    'service.name': settings.service,
    'service.version': parts.version,
    'service.instance.id': newId(),
  })
  const address = (signal: string) => ({
    url: `${settings.url.replace(/\/+$/, '')}/v1/${signal}`,
    headers: { ...settings.headers },
    timeoutMillis,
  })
  const ids = new FixedIdGenerator()
  const queue = createSpanQueue({
    exporter: new OTLPTraceExporter(address('traces')),
    onFailure: (cause) => log.warn('the collector rejected spans', { cause }),
  })
  const tracers = new TracerProvider({
    resource,
    idGenerator: ids,
    sampler: new AlwaysOnSampler(),
    spanProcessors: [queue],
  })
  const tracer = tracers.getTracer('parley', parts.version)
  const meters = registry === undefined ? undefined : openMeters(registry)

  function openMeters(exported: Pick<MetricRegistry, 'collect'>): MeterProvider {
    const reader = new PeriodicExportingMetricReader({
      exporter: new OTLPMetricExporter(address('metrics')),
      exportIntervalMillis: settings.intervalMs,
      exportTimeoutMillis: Math.min(timeoutMillis, settings.intervalMs),
      metricProducers: [metricProducer(exported, now)],
    })
    return new MeterProvider({ resource, readers: [reader] })
  }

  return {
    spans: queue.counts,
    onSpan(span) {
      if (!settings.traces || !span.isSampled || !isInSample(span.traceId, settings.sample)) return
      exportSpan(tracer, ids, span)
    },
    async close() {
      const failed = (cause: unknown): void => log.debug('the last metrics were not exported', { cause })
      await Promise.all([tracers.shutdown(), resultWithin(Promise.resolve(meters?.shutdown().catch(failed)), closeMs)])
    },
  }
}

/** The same for all spans of a trace, in every process. */
export function isInSample(traceId: string, share: number): boolean {
  return Number.parseInt(traceId.slice(-8), 16) < share * 2 ** 32
}

/** The metrics of the hub for OpenTelemetry: the same counters that Prometheus reads. */
function metricProducer(registry: Pick<MetricRegistry, 'collect'>, now: () => number): MetricProducer {
  const startTime = hrTime(now())
  return {
    async collect() {
      const times = { startTime, endTime: hrTime(now()) }
      const metrics = (await registry.collect()).map((family) => dataOf(family, times))
      const scopeMetrics = [{ scope: { name: 'parley' }, metrics }]
      // The reader adds the resource.
      return { resourceMetrics: { resource: emptyResource(), scopeMetrics }, errors: [] }
    },
  }
}

function dataOf(family: MetricFamily, times: { readonly startTime: HrTime; readonly endTime: HrTime }): MetricData {
  const { otel: name, help: description, unit } = family
  const descriptor = { name, description, unit, valueType: ValueType.DOUBLE }
  const shared = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE }
  const point = ({ labels }: { readonly labels: readonly string[] }) => ({
    ...times,
    attributes: attributesOf(family.labels, labels),
  })
  if (family.type === 'histogram') {
    const dataPoints = family.samples.map((sample) => ({
      ...point(sample),
      value: {
        sum: sample.sum,
        count: sample.count,
        buckets: { boundaries: [...family.bounds], counts: [...sample.counts] },
      },
    }))
    return { ...shared, dataPointType: DataPointType.HISTOGRAM, dataPoints }
  }
  const dataPoints = family.samples.map((sample) => ({ ...point(sample), value: sample.value }))
  return family.type === 'counter'
    ? { ...shared, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...shared, dataPointType: DataPointType.GAUGE, dataPoints }
}

function attributesOf(names: readonly string[], values: readonly string[]): Attributes {
  return Object.fromEntries(names.flatMap((name, index) => (values[index] ? [[name, values[index]]] : [])))
}

function hrTime(ms: number): HrTime {
  return [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1_000_000)]
}
