/** The part of a chart that needs uPlot; a chunk of its own. */
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { clock, dayLabel, type StatChart } from './stat-charts.ts'

export interface ChartOptions {
  readonly height: number
  readonly stepMs: number
  readonly syncKey: string
  readonly onPoint: (index: number | undefined) => void
}

const fontSize = 11
const digitWidth = 6.2

export function drawChart(element: HTMLElement, chart: StatChart, data: UPlot.AlignedData, look: ChartOptions): UPlot {
  const styles = getComputedStyle(document.documentElement)
  const colour = (name: string): string => styles.getPropertyValue(`--${name}`)
  const isBars = chart.look === 'bars'
  const axis = {
    stroke: colour('text-faint'),
    font: `${fontSize}px ${styles.getPropertyValue('--sans')}`,
    ticks: { show: false },
    border: { show: false },
  }
  const options: UPlot.Options = {
    width: Math.max(1, element.clientWidth),
    height: look.height,
    // Room for half of the last label.
    padding: [6, 20, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: false, y: false, setScale: false },
      points: { show: !isBars, size: 6 },
      sync: { key: look.syncKey },
    },
    scales: {
      x: {
        time: true,
        // A bar begins at the time of its step.
        range: (_, from, until) => [from, until + (isBars ? look.stepMs / 1_000 : 0)],
      },
      // All zeros are drawn at the bottom and not in the middle.
      y: { range: (_, _low, high) => [0, high > 0 ? high * 1.1 : 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 26,
        gap: 8,
        space: 64,
        values: (_, splits) => splits.map((at) => timeLabel(at * 1_000, look.stepMs)),
      },
      {
        ...axis,
        grid: {
          stroke: colour('line'),
          width: 1,
          filter: (plot, splits) => splits.map((value) => (value === 0 || hasValues(plot) ? value : null)),
        },
        gap: 6,
        space: 28,
        ...(chart.isWhole ? { incrs: wholeSteps } : {}),
        values: (plot, splits) => splits.map((value) => valueLabel(value, chart, plot)),
        size: (_, values) => 14 + digitWidth * Math.max(1, ...(values ?? []).map(({ length }) => length)),
      },
    ],
    series: [
      {},
      ...chart.lines.toReversed().map(({ tone }) => ({
        stroke: colour(tone),
        width: isBars ? 0 : 1.5,
        ...(isBars
          ? { fill: colour(tone), ...barPaths }
          : chart.lines.length === 1
            ? { fill: colour(`${tone}-soft`) }
            : {}),
        // A single value between gaps would not be visible as a line.
        points: {
          show: !isBars,
          size: 4,
          width: 0,
          fill: colour(tone),
          filter: (plot: UPlot, index: number) => isolatedPoints(plot.data[index] ?? []),
        },
        spanGaps: false,
      })),
    ],
    hooks: {
      setCursor: [
        ({ cursor }) =>
          look.onPoint(cursor.left === undefined || cursor.left < 0 ? undefined : (cursor.idx ?? undefined)),
      ],
    },
  }
  return new UPlot(options, data, element)
}

/** Amounts are stacked: the bar behind is the sum. In the order of the series, which are drawn from back to front. */
export function chartData(chart: StatChart, times: readonly number[]): UPlot.AlignedData {
  const columns = chart.lines.map(({ values }) => [...values])
  if (chart.look === 'bars') {
    for (let line = 1; line < columns.length; line += 1)
      columns[line] = (columns[line] ?? []).map((value, at) => (value ?? 0) + (columns[line - 1]?.[at] ?? 0))
  }
  return [[...times], ...columns.toReversed()]
}

const wholeSteps = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat()

const bars = UPlot.paths.bars?.({ size: [0.72, 24], align: 1, radius: 0.1 })
const barPaths = bars === undefined ? {} : { paths: bars }

/** Without values the height of the axis means nothing. */
function valueLabel(value: number, { show }: StatChart, plot: UPlot): string {
  if (value === 0) return '0'
  return hasValues(plot) ? show(value) : ''
}

function hasValues({ data }: UPlot): boolean {
  return data.slice(1).some((values) => [...values].some((one) => (one ?? 0) > 0))
}

function timeLabel(at: number, stepMs: number): string {
  return stepMs < 3_600_000 ? clock(new Date(at)) : dayLabel(new Date(at))
}

/** Points without a neighbour on either side. */
function isolatedPoints(values: ArrayLike<number | null | undefined>): number[] {
  const isThere = (at: number): boolean => values[at] !== null && values[at] !== undefined
  return Array.from({ length: values.length }, (_, at) => at).filter(
    (at) => isThere(at) && !isThere(at - 1) && !isThere(at + 1),
  )
}
