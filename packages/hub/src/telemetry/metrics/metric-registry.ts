/**
 * The metric registry: counters, histograms, and values that are read when the metrics are collected. Counting is one map lookup. The
 * output formats, Prometheus text and OTLP, are elsewhere.
 */

export type MetricType = 'counter' | 'gauge' | 'histogram'

export interface MetricInfo {
  /** The Prometheus name: with its unit, counters with `_total`. */
  readonly name: string
  /** The OpenTelemetry name. */
  readonly otel: string
  /** The OpenTelemetry unit: `s`, `By`, `{request}`. */
  readonly unit: string
  readonly help: string
  /** The OpenTelemetry names; Prometheus uses `_` instead of a dot. */
  readonly labels: readonly string[]
}

/** One value of a metric, for one set of labels. */
export interface Sample {
  readonly labels: readonly string[]
  readonly value: number
}

export interface HistogramSample {
  readonly labels: readonly string[]
  /** The count per bucket, then the overflow: not cumulative. */
  readonly counts: readonly number[]
  readonly sum: number
  readonly count: number
}

export type MetricFamily = MetricInfo &
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

/** Values with their labels. A value of `undefined` is omitted. */
export type Values = readonly (readonly [value: number | undefined, ...labels: readonly string[]])[]

export interface MetricRegistry {
  counter(about: MetricInfo): Counter
  histogram(about: MetricInfo, bounds: readonly number[]): Histogram
  /** A metric whose values are kept elsewhere. They are read when the metrics are collected; a metric that fails is omitted. */
  observed(about: MetricInfo, type: 'counter' | 'gauge', read: () => Values | Promise<Values>): void
  collect(): Promise<readonly MetricFamily[]>
  /** How much the series of a counter grew since the last call. */
  increases(otel: string): readonly Sample[]
}

/** The operator names agents, tools and models, but there may be many: beyond this number they are reported together. */
export const maxSeries = 1_000
/** Counters are small, and the statistics need those of every agent: only beyond this number they are counted together. */
const maxCounters = 20_000
export const otherLabel = 'other'

export function createMetricRegistry(): MetricRegistry {
  const families: (() => MetricFamily | Promise<MetricFamily>)[] = []
  const names = new Set<string>()
  const counters = new Map<string, () => readonly Series<{ value: number; reported: number }>[]>()

  function reserveName({ name }: MetricInfo): void {
    if (names.has(name)) throw new Error(`duplicate metric ${name}`)
    names.add(name)
  }

  return {
    counter(about) {
      reserveName(about)
      const width = about.labels.length
      const series = createSeries(width, maxCounters, () => ({ value: 0, reported: 0 }))
      counters.set(about.otel, series.all)
      families.push(() => {
        const samples = series.all().map(({ labels, of: { value } }) => ({ labels, value }))
        const rest = samples.slice(maxSeries).reduce((sum, { value }) => sum + value, 0)
        const other = rest === 0 ? [] : [{ labels: otherLabels(width), value: rest }]
        return { ...about, type: 'counter', samples: [...samples.slice(0, maxSeries), ...other] }
      })
      return {
        add(labels, by = 1) {
          series.at(labels).value += by
        },
      }
    },

    histogram(about, bounds) {
      reserveName(about)
      const series = createSeries(about.labels.length, maxSeries, () => ({
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

    observed(about, type, read) {
      reserveName(about)
      families.push(async () => {
        const values = await read()
        const samples = values.flatMap(([value, ...labels]) => (value === undefined ? [] : [{ labels, value }]))
        return { ...about, type, samples }
      })
    },

    async collect() {
      const collected = await Promise.allSettled(families.map(async (family) => family()))
      return collected.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    },
    increases(otel) {
      return (counters.get(otel)?.() ?? []).flatMap(({ labels, of }) => {
        const value = of.value - of.reported
        of.reported = of.value
        return value === 0 ? [] : [{ labels, value }]
      })
    },
  }
}

interface Series<T> {
  readonly labels: readonly string[]
  readonly of: T
}

function otherLabels(width: number): readonly string[] {
  return Array.from({ length: width }, () => otherLabel)
}

function createSeries<T>(width: number, max: number, make: () => T) {
  const byKey = new Map<string, Series<T>>()
  /** Most requests are like the one before: no key is built for them. */
  let last: Series<T> | undefined

  function open(key: string, labels: readonly string[]): T {
    const made = { labels: [...labels], of: make() }
    byKey.set(key, made)
    return made.of
  }

  function isLast(labels: readonly string[]): boolean {
    if (last === undefined || labels.length !== last.labels.length) return false
    for (let index = 0; index < labels.length; index += 1) if (labels[index] !== last.labels[index]) return false
    return true
  }

  return {
    at(labels: readonly string[]): T {
      if (last !== undefined && isLast(labels)) return last.of
      const key = labels.length === 1 ? (labels[0] as string) : labels.join('\u0000')
      const found = byKey.get(key)
      if (found !== undefined) return (last = found).of
      if (byKey.size < max) return open(key, labels)
      const rest = otherLabels(width)
      return byKey.get(rest.join('\u0000'))?.of ?? open(rest.join('\u0000'), rest)
    },
    all: () => [...byKey.values()],
  }
}
