/** The positions and labels of the axes of a chart. Pure. */
import { clock, dayLabel, type StatChart, type StatSeries } from './stat-charts.ts'

export interface ChartTick {
  /** From 0 at the left or the bottom to 1. */
  readonly share: number
  readonly label: string
}

const mostTicks = 4
const minuteMs = 60_000
const dayMs = 1_440 * minuteMs
const timeSteps = [5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440, 2_880, 7_200, 10_080].map((count) => count * minuteMs)

/** The highest of all columns; stacked lines add up. */
export function highest({ lines, look }: StatChart): number {
  const sums = (lines[0]?.values ?? []).map((_, at) => {
    const values = lines.map(({ values: all }) => all[at] ?? 0)
    return look === 'bars' ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values)
  })
  return Math.max(0, ...sums)
}

/** Round values from zero; without any value the height of the axis means nothing. */
export function valueTicks(chart: StatChart, top: number): readonly ChartTick[] {
  const most = highest(chart)
  if (most === 0) return [{ share: 0, label: '0' }]
  const power = 10 ** Math.floor(Math.log10(top / mostTicks))
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((one) => top / one <= mostTicks) ?? top
  const whole = chart.isWhole ? Math.max(1, step) : step
  return Array.from({ length: Math.floor(top / whole) + 1 }, (_, count) => ({
    share: (count * whole) / top,
    label: count === 0 ? '0' : chart.show(Number((count * whole).toPrecision(3))),
  }))
}

/** Round local times within the steps, at most `most`. */
export function timeTicks({ steps, stepMs }: Pick<StatSeries, 'steps' | 'stepMs'>, most: number): readonly ChartTick[] {
  const start = Date.parse(steps[0]?.at ?? '')
  const length = steps.length * stepMs
  const every = timeSteps.find((one) => one >= stepMs && length / one <= most) ?? length
  const first = Math.ceil(toLocal(start) / every) * every
  const ticks: ChartTick[] = []
  for (let local = first; local < toLocal(start) + length; local += every) {
    const at = new Date(start + local - toLocal(start))
    ticks.push({ share: (at.getTime() - start) / length, label: every < dayMs ? clock(at) : dayLabel(at) })
  }
  return ticks
}

/** Multiples of an hour or a day are those of the local clock. */
function toLocal(at: number): number {
  return at - new Date(at).getTimezoneOffset() * minuteMs
}
