/** The names of a metric: the OpenTelemetry name, and the Prometheus name that derives from it. */
import type { MetricInfo } from './metric-registry.ts'

/** The Prometheus name is the OpenTelemetry name with underscores and its unit. */
export function metric(otel: string, unit: string, labels: readonly string[], help: string, suffix = ''): MetricInfo {
  const otelName = otel.startsWith('gen_ai') ? otel : `parley.${otel}`
  const unitSuffix = { s: '_seconds', By: '_bytes' }[unit] ?? ''
  return { name: `${otelName.replaceAll('.', '_')}${unitSuffix}${suffix}`, otel: otelName, unit, labels, help }
}
