/** The measurements, the comparison with other contestants, and the targets. */
import { type ContestantName, contestantNames, lineup } from './contestants/lineup.ts'

export interface Measure {
  readonly name: string
  readonly what: string
  readonly unit: string
  readonly better: 'more' | 'less'
  /** Missing if the contestant was not measured, or does not support the measure. */
  readonly values: Partial<Record<ContestantName, number>>
}

export interface Target {
  readonly text: string
  /** Missing if its measures were not taken. */
  readonly met: boolean | undefined
  readonly got: string
}

/** How many times better Parley is than `@a2a-js/sdk` (or than before); above 1 Parley is ahead, for every unit. */
export function ratio({ better, values }: Measure): number | null {
  const { parley } = values
  const other = values.before ?? values['a2a-js']
  if (parley === undefined || other === undefined || parley === 0 || other === 0) return null
  return better === 'more' ? parley / other : other / parley
}

const rounded = (value: number | null | undefined): number | null =>
  value === null || value === undefined ? null : Number(value.toPrecision(5))

export function jsonLine(measure: Measure): string {
  const { parley, hub, 'a2a-js': a2aJs, bare, before } = measure.values
  return JSON.stringify({
    name: measure.name,
    parley: rounded(parley),
    hub: rounded(hub),
    rival: rounded(a2aJs),
    limit: rounded(bare),
    ...(before !== undefined && { before: rounded(before) }),
    ratio: rounded(ratio(measure)),
    unit: measure.unit,
    all: Object.fromEntries(Object.entries(measure.values).map(([name, value]) => [name, rounded(value)])),
  })
}

export function formatValue(value: number | undefined): string {
  if (value === undefined) return '–'
  if (value === 0) return '0'
  if (value >= 100) return Math.round(value).toLocaleString('en')
  return value.toFixed(value >= 10 ? 1 : 2)
}

/** Those with a value in one of the measures, in the order of the lineup. */
export function contestantsOf(measures: readonly Measure[]): readonly ContestantName[] {
  const names: readonly ContestantName[] = [...contestantNames, 'before']
  return names.filter((name) => measures.some(({ values }) => values[name] !== undefined))
}

function formatRow(measure: Measure, contestants: readonly ContestantName[]): readonly string[] {
  const times = ratio(measure)
  return [
    measure.what,
    measure.unit,
    ...contestants.map((name) => formatValue(measure.values[name])),
    times === null ? '–' : `${formatValue(times)}×`,
  ]
}

export function formatTable(measures: readonly Measure[], contestants: readonly ContestantName[]): string {
  const titles = ['measure', 'unit', ...contestants.map((name) => lineup[name].title), 'better']
  const rows = [titles, ...measures.map((measure) => formatRow(measure, contestants))]
  const columns = titles.map((_, index) => ({
    width: Math.max(...rows.map((cells) => cells[index]?.length ?? 0)),
    isWords: index < 2,
  }))
  const line = (cells: readonly string[]): string => {
    const padded = columns.map(({ width, isWords }, index) => {
      const cell = cells[index] ?? ''
      return isWords ? cell.padEnd(width) : cell.padStart(width)
    })
    return `| ${padded.join(' | ')} |`
  }
  const rule = columns.map(({ width, isWords }) => '-'.repeat(width + 1) + (isWords ? '-' : ':'))
  return [line(titles), `|${rule.join('|')}|`, ...rows.slice(1).map(line)].join('\n')
}

export function targetLine({ text, met, got }: Target): string {
  const verdict = met === undefined ? '–   ' : met ? 'ok  ' : 'MISS'
  return `${verdict} ${text}${got === '' ? '' : `: ${got}`}`
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const [below = Number.NaN, above = Number.NaN] = sorted.slice(middle - 1 + (sorted.length % 2), middle + 1)
  return sorted.length % 2 === 1 ? below : (below + above) / 2
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
