/** The part of a sparkline that needs uPlot; a chunk of its own. */
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'

export interface SparklineOptions {
  /** Colour names, one for each line. */
  readonly tones: readonly string[]
  readonly height: number
  readonly syncKey: string
  readonly onPoint: (index: number | undefined) => void
}

export function drawSparkline(element: HTMLElement, data: UPlot.AlignedData, look: SparklineOptions): UPlot {
  const colours = getComputedStyle(document.documentElement)
  const colour = (name: string): string => colours.getPropertyValue(`--${name}`)
  const options: UPlot.Options = {
    width: Math.max(1, element.clientWidth),
    height: look.height,
    padding: [4, 2, 2, 2],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: false, y: false },
      points: { size: 6 },
      sync: { key: look.syncKey },
    },
    scales: {
      x: { time: true },
      // All zeros are drawn at the bottom and not in the middle.
      y: { range: (_, _low, high) => [0, Math.max(1, high) * 1.05] },
    },
    axes: [{ show: false }, { show: false }],
    series: [
      {},
      ...look.tones.map((tone) => ({
        stroke: colour(tone),
        width: 1.5,
        ...(look.tones.length === 1 ? { fill: colour(`${tone}-soft`) } : {}),
        // A single value between gaps would not be visible as a line.
        points: {
          show: true,
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

/** Points without a neighbour on either side. */
function isolatedPoints(values: ArrayLike<number | null | undefined>): number[] {
  const isThere = (at: number): boolean => values[at] !== null && values[at] !== undefined
  return Array.from({ length: values.length }, (_, at) => at).filter(
    (at) => isThere(at) && !isThere(at - 1) && !isThere(at + 1),
  )
}
