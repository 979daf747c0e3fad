/** Plots as SVG text: bars, and lines on logarithmic axes. Colors follow the reader's light or dark scheme. */
import { formatValue } from '../report.ts'

/** Ours are blue, those of other projects orange, limits gray. */
export type PlotRole = 'ours' | 'other' | 'limit'

export interface Bar {
  readonly label: string
  readonly value: number
  readonly role: PlotRole
}

export interface Line {
  readonly label: string
  readonly role: PlotRole
  readonly points: readonly { readonly x: number; readonly y: number }[]
}

const width = 720
const style = `<style>
text{font:13px system-ui,sans-serif;fill:#24292f}.t{font-weight:600;font-size:15px}.s{fill:#57606a}
.ours{fill:#0969da;stroke:#0969da}.other{fill:#bc4c00;stroke:#bc4c00}.limit{fill:#818b98;stroke:#818b98}
rect{stroke:none!important}polyline{fill:none!important;stroke-width:2}.g{stroke:#d0d7de;stroke-width:1}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.s{fill:#9198a1}.g{stroke:#3d444d}
.ours{fill:#4493f8;stroke:#4493f8}.other{fill:#f0883e;stroke:#f0883e}.limit{fill:#9198a1;stroke:#9198a1}}
</style>`

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const round = (value: number): string => String(Math.round(value * 10) / 10)

function text(x: number, y: number, content: string, attributes = ''): string {
  return `<text x="${round(x)}" y="${round(y)}"${attributes}>${escape(content)}</text>`
}

function frame(height: number, title: string, unit: string, content: readonly string[]): string {
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`
  const head = `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="${escape(`${title}, ${unit}`)}">`
  const titles = [text(8, 22, title, ' class="t"'), text(8, 41, unit, ' class="s"')]
  return `${[head, style, ...titles, ...content, '</svg>'].join('\n')}\n`
}

/** One bar for each value, in the given order, from zero. */
export function barPlot(title: string, unit: string, bars: readonly Bar[]): string {
  const [left, right, rowHeight, top] = [190, 90, 26, 54]
  const most = Math.max(...bars.map(({ value }) => value), 0) || 1
  const rows = bars.flatMap(({ label, value, role }, index) => {
    const y = top + index * rowHeight
    const length = Math.max((value / most) * (width - left - right), value > 0 ? 1 : 0)
    return [
      text(left - 8, y + 15, label, ' text-anchor="end"'),
      `<rect class="${role}" x="${left}" y="${y + 3}" width="${round(length)}" height="${rowHeight - 9}" rx="2"/>`,
      text(left + length + 6, y + 15, formatValue(value), ' class="s"'),
    ]
  })
  return frame(top + bars.length * rowHeight + 8, title, unit, rows)
}

interface Scale {
  (value: number): number
  readonly ticks: readonly number[]
}

/** Logarithmic, over whole powers of ten. */
function logScale(values: readonly number[], from: number, to: number): Scale {
  const low = Math.floor(Math.log10(Math.min(...values)))
  const high = Math.max(Math.ceil(Math.log10(Math.max(...values))), low + 1)
  const at = (value: number): number => from + ((Math.log10(value) - low) / (high - low)) * (to - from)
  return Object.assign(at, { ticks: Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index)) })
}

const tickLabel = (value: number): string => (value < 1 ? String(value) : value.toLocaleString('en'))

/** Both axes are logarithmic: work that grows with the square of its size is twice as steep as work that is linear. */
export function linePlot(title: string, unit: string, lines: readonly Line[]): string {
  const [left, right, top, height] = [64, 170, 58, 360]
  const bottom = height - 30
  const points = lines.flatMap((line) => line.points)
  const xs = [...new Set(points.map(({ x }) => x))].toSorted((a, b) => a - b)
  const x = logScale(xs, left, width - right)
  const y = logScale(
    points.map((point) => point.y),
    bottom,
    top,
  )
  const grid = y.ticks.flatMap((tick) => [
    `<line class="g" x1="${left}" x2="${width - right}" y1="${round(y(tick))}" y2="${round(y(tick))}"/>`,
    text(left - 8, y(tick) + 4, tickLabel(tick), ' text-anchor="end" class="s"'),
  ])
  const axis = xs.map((each) => text(x(each), bottom + 20, tickLabel(each), ' text-anchor="middle" class="s"'))
  // Labels at the ends of the lines, moved apart where they would overlap.
  let lastY = Number.NEGATIVE_INFINITY
  const labelled = lines
    .flatMap((line) => {
      const end = line.points.at(-1)
      return end === undefined ? [] : [{ line, end }]
    })
    .toSorted((a, b) => y(a.end.y) - y(b.end.y))
  const drawn = labelled.flatMap(({ line, end }) => {
    const labelY = Math.max(y(end.y) + 4, lastY + 16)
    lastY = labelY
    const path = line.points.map((point) => `${round(x(point.x))},${round(y(point.y))}`).join(' ')
    const dots = line.points.map(
      (point) => `<circle class="${line.role}" cx="${round(x(point.x))}" cy="${round(y(point.y))}" r="3"/>`,
    )
    return [
      `<polyline class="${line.role}" points="${path}"/>`,
      ...dots,
      text(x(end.x) + 9, labelY, `${line.label} ${formatValue(end.y)}`),
    ]
  })
  return frame(height, title, unit, [...grid, ...axis, ...drawn])
}
