/** docs/reference/metrics.md: every metric of the hub, from the table. */
import { maxSeries, otherLabel } from '../../packages/hub/src/telemetry/metrics/metric-registry.ts'
import { metricTable } from '../../packages/hub/src/telemetry/metrics/metric-table.ts'
import { code, generatedNotice, page, table, text, type Row } from './markdown.ts'

export function metricsPage(): string {
  return page(
    '# Metrics reference',
    generatedNotice,
    '`GET /metrics` returns these metrics in the text format of Prometheus; with `telemetry.otlp` the hub also exports them by OTLP, under their OpenTelemetry names. ' +
      '[Telemetry](../guides/telemetry.md) explains how to turn them on and who may read them.',
    'A histogram has the series `_bucket`, `_sum` and `_count`. Prometheus writes the dots of a label as underscores. ' +
      `A metric has at most ${maxSeries.toLocaleString('en')} series; further ones are counted under the label value ${code(otherLabel)}.`,
    table(
      ['Prometheus and OpenTelemetry name', 'Type', 'Labels', 'Description'],
      metricTable.map(({ name, otel, type, unit, labels, help }): Row => [
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
      [...boundsOf()].map(([bounds, names]): Row => [names.map(code).join(', '), bounds]),
    ),
  )
}

function boundsOf(): ReadonlyMap<string, readonly string[]> {
  const byBounds = new Map<string, string[]>()
  for (const { name, bounds } of metricTable) {
    if (bounds.length === 0) continue
    const key = bounds.join(', ')
    byBounds.set(key, [...(byBounds.get(key) ?? []), name])
  }
  return byBounds
}
