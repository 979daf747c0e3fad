/** What was measured, against whom, and whether it is what we promised. */
import type { ContestantName } from './workload.ts'

export interface Measure {
  readonly name: string
  readonly what: string
  readonly unit: string
  readonly better: 'more' | 'less'
  /** Missing where the contestant was not measured, or has nothing of the kind. */
  readonly values: Partial<Record<ContestantName, number>>
}

export interface Target {
  readonly text: string
  /** Missing if what it needs was not measured. */
  readonly met: boolean | undefined
  readonly got: string
}

/** How many times better we are than the rival; above 1 we are ahead, whichever way the unit runs. */
export function ratio({ better, values }: Measure): number | null {
  const { parley, rival } = values
  if (parley === undefined || rival === undefined || parley === 0 || rival === 0) return null
  return better === 'more' ? parley / rival : rival / parley
}

const rounded = (value: number | null | undefined): number | null =>
  value === null || value === undefined ? null : Number(value.toPrecision(5))

export function jsonLine(measure: Measure): string {
  const { parley, rival, bare } = measure.values
  return JSON.stringify({
    name: measure.name,
    parley: rounded(parley),
    rival: rounded(rival),
    limit: rounded(bare),
    ratio: rounded(ratio(measure)),
  })
}

export function formatValue(value: number | undefined): string {
  if (value === undefined) return '–'
  if (value >= 100) return Math.round(value).toLocaleString('en')
  return value.toFixed(value >= 10 ? 1 : 2)
}

function formatRow(measure: Measure): readonly string[] {
  const { parley, rival, bare } = measure.values
  const times = ratio(measure)
  return [
    measure.what,
    measure.unit,
    formatValue(parley),
    formatValue(rival),
    formatValue(bare),
    times === null ? '–' : `${formatValue(times)}×`,
  ]
}

export function formatTable(measures: readonly Measure[]): string {
  const titles = ['measure', 'unit', 'parley', 'rival', 'node:http', 'better']
  const rows = [titles, ...measures.map(formatRow)]
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
