/**
 * Numbers that are counted while the hub works: counters, histograms, and gauges that are looked up when somebody asks.
 * Counting is one look into a map; how it is told, as text for Prometheus or by OTLP, is not known here.
 */

export type MetricType = 'counter' | 'gauge' | 'histogram'

export interface MetricAbout {
  /** As Prometheus has it: with its unit, counters with `_total`. */
  readonly name: string
  /** As OpenTelemetry has it. */
  readonly otel: string
  /** Of OpenTelemetry: `s`, `By`, `{request}`. */
  readonly unit: string
  readonly help: string
  /** As OpenTelemetry names them; Prometheus has `_` where those have a dot. */
  readonly labels: readonly string[]
}

/** One line of a metric: a number for one choice of labels. */
export interface Sample {
  readonly labels: readonly string[]
  readonly value: number
}

export interface HistogramSample {
  readonly labels: readonly string[]
  /** How many were at most so large, for each bound and then for all: not added up. */
  readonly counts: readonly number[]
  readonly sum: number
  readonly count: number
}

export type MetricFamily = MetricAbout &
  (
    | { readonly type: 'counter' | 'gauge'; readonly samples: readonly Sample[] }
    | { readonly type: 'histogram'; readonly bounds: readonly number[]; readonly samples: readonly HistogramSample[] }
  )

export interface Counter {
  add(labels: readonly string[], by?: number): void
}

export interface Histogram {
  observe(labels: readonly string[], value: number): void
}

/** Looked up when somebody asks. One that fails is left out of the answer. */
export type Gauge = () => Iterable<Sample> | Promise<Iterable<Sample>>

export interface MetricRegistry {
  counter(about: MetricAbout): Counter
  histogram(about: MetricAbout, bounds: readonly number[]): Histogram
  gauge(about: MetricAbout, look: Gauge): void
  /** A counter that somebody else keeps. */
  counted(about: MetricAbout, look: Gauge): void
  collect(): Promise<readonly MetricFamily[]>
}

/** Names of agents, tools and models are the operator's, but there may be many: the rest is counted together. */
const mostSeries = 1_000
export const otherLabel = 'other'

export function createMetricRegistry(): MetricRegistry {
  const families: (() => MetricFamily | Promise<MetricFamily>)[] = []
  const names = new Set<string>()

  function claim({ name }: MetricAbout): void {
    if (names.has(name)) throw new Error(`there are two metrics ${name}`)
    names.add(name)
  }

  function looked(about: MetricAbout, type: 'counter' | 'gauge', look: Gauge): void {
    claim(about)
    families.push(async () => ({ ...about, type, samples: [...(await look())] }))
  }

  return {
    counter(about) {
      claim(about)
      const series = createSeries(about.labels.length, () => ({ value: 0 }))
      families.push(() => ({
        ...about,
        type: 'counter',
        samples: series.all().map(({ labels, of: { value } }) => ({ labels, value })),
      }))
      return {
        add(labels, by = 1) {
          series.at(labels).value += by
        },
      }
    },

    histogram(about, bounds) {
      claim(about)
      const series = createSeries(about.labels.length, () => ({
        counts: Array.from({ length: bounds.length + 1 }, () => 0),
        sum: 0,
        count: 0,
      }))
      families.push(() => ({
        ...about,
        type: 'histogram',
        bounds,
        samples: series
          .all()
          .map(({ labels, of: { counts, sum, count } }) => ({ labels, counts: [...counts], sum, count })),
      }))
      return {
        observe(labels, value) {
          const one = series.at(labels)
          const at = bounds.findIndex((bound) => value <= bound)
          const bucket = at < 0 ? bounds.length : at
          one.counts[bucket] = (one.counts[bucket] ?? 0) + 1
          one.sum += value
          one.count += 1
        },
      }
    },

    gauge: (about, look) => looked(about, 'gauge', look),
    counted: (about, look) => looked(about, 'counter', look),

    async collect() {
      const collected = await Promise.allSettled(families.map(async (family) => family()))
      return collected.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    },
  }
}

function createSeries<T>(width: number, make: () => T) {
  const byKey = new Map<string, { readonly labels: readonly string[]; readonly of: T }>()

  function open(key: string, labels: readonly string[]): T {
    const made = { labels: [...labels], of: make() }
    byKey.set(key, made)
    return made.of
  }

  return {
    at(labels: readonly string[]): T {
      const key = labels.length === 1 ? (labels[0] as string) : labels.join('\u0000')
      const found = byKey.get(key)
      if (found !== undefined) return found.of
      if (byKey.size < mostSeries) return open(key, labels)
      const rest = Array.from({ length: width }, () => otherLabel)
      return byKey.get(rest.join('\u0000'))?.of ?? open(rest.join('\u0000'), rest)
    },
    all: () => [...byKey.values()],
  }
}
