/**
 * Reads the text format of Prometheus (version 0.0.4) and accepts only what its documentation allows: names, labels
 * and numbers by their grammar, HELP and TYPE once and first, samples of a family together, no sample twice, histograms whose
 * buckets grow and end with +Inf.
 */
export interface ParsedFamily {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary' | 'untyped'
  readonly help: string
  readonly samples: readonly ParsedSample[]
}

export interface ParsedSample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

interface Family {
  name: string
  type: ParsedFamily['type'] | undefined
  help: string | undefined
  samples: ParsedSample[]
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const labelName = /^[a-zA-Z_][a-zA-Z0-9_]*$/
const types = ['counter', 'gauge', 'histogram', 'summary', 'untyped'] as const

export function parsePrometheus(text: string): readonly ParsedFamily[] {
  if (!text.endsWith('\n')) throw new Error('the last line must end with a line feed')
  const families = new Map<string, Family>()
  let current: Family | undefined
  const seen = new Set<string>()
  for (const [index, line] of text.slice(0, -1).split('\n').entries()) {
    const wrong = (why: string): Error => new Error(`line ${index + 1}: ${why}: ${line}`)
    if (line === '') continue
    if (line.startsWith('#')) {
      const [, word, name = '', rest = ''] = /^# (HELP|TYPE) (\S+)(?: (.*))?$/.exec(line) ?? []
      if (word === undefined) continue
      if (!metricName.test(name)) throw wrong('no name of a metric')
      if (current?.name !== name) {
        if (families.has(name)) throw wrong('the lines of a metric must stand together')
        current = { name, type: undefined, help: undefined, samples: [] }
        families.set(name, current)
      }
      if (current.samples.length > 0) throw wrong('after the first sample')
      if (word === 'HELP') {
        if (current.help !== undefined) throw wrong('a second HELP')
        if (/\\(?![\\n])/.test(rest)) throw wrong('an escape that is none')
        current.help = rest
      } else {
        if (current.type !== undefined) throw wrong('a second TYPE')
        if (!types.includes(rest as 'gauge')) throw wrong('no type')
        current.type = rest as 'gauge'
      }
      continue
    }
    const sample = sampleOf(line, wrong)
    const family = current
    if (family?.type === undefined || !namesOf(family).includes(sample.name))
      throw wrong('a sample of no family before it')
    const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort(([a], [b]) => (a < b ? -1 : 1))])
    if (seen.has(key)) throw wrong('twice')
    seen.add(key)
    if (family.type === 'counter' && (sample.value < 0 || Number.isNaN(sample.value)))
      throw wrong('a counter below zero')
    family.samples.push(sample)
  }
  const parsed = [...families.values()].map(({ name, type, help, samples }): ParsedFamily => {
    if (type === undefined || help === undefined) throw new Error(`${name} has no TYPE or no HELP`)
    if (type === 'counter' && !name.endsWith('_total')) throw new Error(`${name} is a counter without _total`)
    return { name, type, help, samples }
  })
  for (const family of parsed) if (family.type === 'histogram') checkHistogram(family)
  return parsed
}

/** The value of the one sample with these labels, among others. */
export function sampleOfFamily(
  families: readonly ParsedFamily[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const samples = families.flatMap((family) => family.samples).filter((sample) => sample.name === name)
  const fitting = samples.filter((sample) =>
    Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  )
  return fitting.length === 0 ? undefined : fitting.reduce((sum, { value }) => sum + value, 0)
}

function namesOf({ name, type }: Family): readonly string[] {
  if (type === 'histogram') return [`${name}_bucket`, `${name}_sum`, `${name}_count`]
  return type === 'summary' ? [name, `${name}_sum`, `${name}_count`] : [name]
}

function sampleOf(line: string, wrong: (why: string) => Error): ParsedSample {
  const [, name = '', , labelText, number = ''] = /^([^\s{]+)(\{(.*)\})? (\S+)$/.exec(line) ?? []
  if (!metricName.test(name)) throw wrong('no sample')
  return { name, labels: labelText === undefined ? {} : labelsOf(labelText, wrong), value: numberOf(number, wrong) }
}

function labelsOf(text: string, wrong: (why: string) => Error): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {}
  let rest = text
  while (rest !== '') {
    const [whole, name = '', value = ''] = /^([^=]+)="((?:[^"\\]|\\.)*)"/.exec(rest) ?? []
    if (whole === undefined || !labelName.test(name)) throw wrong('no label')
    if (name in labels) throw wrong('a label twice')
    if (/\\(?![\\"n])/.test(value.replaceAll('\\\\', ''))) throw wrong('an escape that is none')
    labels[name] = value.replaceAll(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped))
    rest = rest.slice(whole.length)
    if (rest === '') break
    if (!rest.startsWith(',')) throw wrong('labels stand apart by commas')
    rest = rest.slice(1)
  }
  return labels
}

function numberOf(text: string, wrong: (why: string) => Error): number {
  if (text === '+Inf') return Infinity
  if (text === '-Inf') return -Infinity
  if (text === 'NaN') return Number.NaN
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) throw wrong('no number')
  return Number(text)
}

function checkHistogram({ name, samples }: ParsedFamily): void {
  const series = new Map<string, { buckets: [number, number][]; count?: number; sum?: number }>()
  for (const sample of samples) {
    const { le, ...labels } = sample.labels
    const key = JSON.stringify(labels)
    const one = series.get(key) ?? { buckets: [] }
    series.set(key, one)
    if (sample.name === `${name}_bucket`) {
      if (le === undefined) throw new Error(`${name}: a bucket without le`)
      one.buckets.push([le === '+Inf' ? Infinity : Number(le), sample.value])
    } else if (sample.name === `${name}_count`) one.count = sample.value
    else one.sum = sample.value
  }
  for (const [key, { buckets, count, sum }] of series) {
    const bounds = buckets.map(([bound]) => bound)
    const counts = buckets.map(([, value]) => value)
    const isGrowing = (values: readonly number[], mayEqual: boolean): boolean =>
      values.every(
        (value, at) => at === 0 || value > (values[at - 1] as number) || (mayEqual && value === values[at - 1]),
      )
    if (!isGrowing(bounds, false) || !isGrowing(counts, true)) throw new Error(`${name} ${key}: buckets must grow`)
    if (bounds.at(-1) !== Infinity || counts.at(-1) !== count) throw new Error(`${name} ${key}: +Inf must hold all`)
    if (sum === undefined) throw new Error(`${name} ${key}: no sum`)
  }
}
