/** Whether an expression uses only metrics and labels of the hub. */
import assert from 'node:assert/strict'
import { metricTable } from '../../packages/hub/src/telemetry/metrics/metric-table.ts'
import { usedMetrics } from './promql.ts'

const histogramSuffix = /_(?:bucket|sum|count)$/

/** The names of the metrics that it uses. Fails with the name of a metric or label that does not exist. */
export function checkExpression(expression: string): readonly string[] {
  return usedMetrics(expression).map(({ metric, labels }) => {
    // Prometheus writes it for every target.
    if (metric === 'up') return metric
    const row = rowOf(metric)
    assert.ok(row, `${metric} is not in the table of metrics: ${expression}`)
    for (const label of labels)
      assert.ok(labelsOf(metric).includes(label) || isJoinLabel(expression, label), `${metric} has no label ${label}`)
    return row.name
  })
}

function rowOf(metric: string) {
  return metricTable.find(({ name, type }) => {
    const series = type === 'histogram' ? metric.replace(histogramSuffix, '') : metric
    return series === name && (type !== 'histogram' || series !== metric)
  })
}

function labelsOf(metric: string): readonly string[] {
  return (rowOf(metric)?.labels ?? []).map((label) => label.replaceAll('.', '_'))
}

/** A label of the other side of a binary expression. */
function isJoinLabel(expression: string, label: string): boolean {
  return / and | \/ /.test(expression) && usedMetrics(expression).some(({ metric }) => labelsOf(metric).includes(label))
}
