/** The metrics of the hub for OpenTelemetry: the same counters that Prometheus reads. */
import { ValueType } from '@opentelemetry/api'
import type { Attributes, HrTime } from '@opentelemetry/api'
import { AggregationTemporality, DataPointType } from '@opentelemetry/sdk-metrics'
import type { MetricData, MetricProducer } from '@opentelemetry/sdk-metrics'
import { emptyResource } from '@opentelemetry/resources'
import type { MetricFamily, MetricRegistry } from '../metrics/metric-registry.ts'

export function metricProducer(registry: Pick<MetricRegistry, 'collect'>, now: () => number): MetricProducer {
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

interface Times {
  readonly startTime: HrTime
  readonly endTime: HrTime
}

function dataOf(family: MetricFamily, times: Times): MetricData {
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
