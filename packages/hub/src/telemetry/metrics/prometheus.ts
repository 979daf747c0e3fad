/** The Prometheus text format, version 0.0.4. */
import type { HistogramSample, MetricFamily, Sample } from './metric-registry.ts'

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
