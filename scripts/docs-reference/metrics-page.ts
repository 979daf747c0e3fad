/** docs/reference/metrics.md: every metric of the hub, from the registry. */
import { createHubMetrics } from '../../packages/hub/src/telemetry/metrics/hub-metrics.ts'
import { maxSeries, otherLabel, type MetricFamily } from '../../packages/hub/src/telemetry/metrics/metric-registry.ts'
import { addProcessMetrics } from '../../packages/hub/src/telemetry/metrics/process-metrics.ts'
import { code, generatedNotice, page, table, text, type Row } from './markdown.ts'

/** All metrics of a hub, without values. */
export async function hubMetricFamilies(): Promise<readonly MetricFamily[]> {
  const { registry } = createHubMetrics({
    store: { tasks: { countStates: async () => [] } as never },
    storeReport: async () => undefined,
    auditExports: async () => [],
    secretProviders: () => [],
    streams: () => 0,
    readers: () => undefined,
    connections: () => undefined,
    hasAgent: () => false,
    agents: () => [],
    endedTasks: async () => new Map(),
    queues: () => [],
    now: () => 0,
  })
  const ofProcess = addProcessMetrics(registry, '')
  try {
    return await registry.collect()
  } finally {
    ofProcess.close()
  }
}

export function metricsPage(families: readonly MetricFamily[]): string {
  return page(
    '# Metrics reference',
    generatedNotice,
    '`GET /metrics` returns these metrics in the text format of Prometheus; with `telemetry.otlp` the hub also exports them by OTLP, under their OpenTelemetry names. ' +
      '[Telemetry](../guides/telemetry.md) explains how to turn them on and who may read them.',
    'A histogram has the series `_bucket`, `_sum` and `_count`. Prometheus writes the dots of a label as underscores. ' +
      `A metric has at most ${maxSeries.toLocaleString('en')} series; further ones are counted under the label value ${code(otherLabel)}.`,
    table(
      ['Prometheus and OpenTelemetry name', 'Type', 'Labels', 'Description'],
      families.map(({ name, otel, type, unit, labels, help }): Row => [
        `${code(name)}<br>${code(otel)}`,
        `${type} ${code(unit)}`,
        labels.map(code).join(', '),
        text(help),
      ]),
    ),
    '## Buckets',
    'The upper bounds of the histograms, in the unit of the metric:',
    table(
      ['Metrics', 'Bounds'],
      [...boundsOf(families)].map(([bounds, names]): Row => [names.map(code).join(', '), bounds]),
    ),
  )
}

function boundsOf(families: readonly MetricFamily[]): ReadonlyMap<string, readonly string[]> {
  const byBounds = new Map<string, string[]>()
  for (const family of families) {
    if (family.type !== 'histogram') continue
    const bounds = family.bounds.join(', ')
    byBounds.set(bounds, [...(byBounds.get(bounds) ?? []), family.name])
  }
  return byBounds
}
