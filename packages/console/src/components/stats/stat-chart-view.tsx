/** A chart of one statistic over time, and the same as text. A click on a point, or Enter, opens the tasks of that moment. */
import type { Signal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { navigate } from '../../app/router.ts'
import { useSize } from '../layout/use-size.ts'
import { highest, timeTicks, valueTicks } from './chart-axes.ts'
import { stepLabel, type ChartLine, type StatChart, type StatSeries } from './stat-charts.ts'
import '../layout/skeleton.css'
import './stat-chart-view.css'

const height = 132
const bottom = 22
const top = 6
/** Room for half of the last label. */
const right = 20
const digitWidth = 6.2
/** The width of a label of a time, with the space around it. */
const timeWidth = 64
const widestBar = 24

export interface StatChartViewProps {
  readonly chart: StatChart
  readonly series: StatSeries
  /** The step under the pointer, in all charts of the page at once. */
  readonly pointed: Signal<number | undefined>
  /** The tasks of a step. */
  readonly hrefAt: (index: number) => string
}

export function StatChartView({ chart, series, pointed, hrefAt }: StatChartViewProps) {
  const { steps, stepMs } = series
  const isTouch = useRef(false)
  const last = steps.length - 1
  const at = Math.min(pointed.value ?? last, last)
  const valueText = pointText(chart, series, at)

  function onKeyDown(event: KeyboardEvent): void {
    const from = pointed.value ?? last + 1
    const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last }[event.key]
    if (to !== undefined) pointed.value = Math.max(0, Math.min(last, to))
    else if (event.key === 'Enter') navigate(hrefAt(at))
    else return
    event.preventDefault()
  }

  return (
    <figure class="panel stat-chart">
      <figcaption>
        <h3>{chart.title}</h3>
        <p class="stat-chart-value">{chart.value}</p>
      </figcaption>
      <div
        class="stat-chart-plot"
        role="slider"
        tabIndex={0}
        aria-label={chart.title}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={at}
        aria-valuetext={valueText}
        title={`Tasks of ${stepLabel(steps[at]?.at ?? 0, stepMs)}`}
        style={{ height: `${height}px` }}
        onKeyDown={onKeyDown}
        onBlur={() => (pointed.value = undefined)}
        onPointerDown={({ pointerType }) => (isTouch.current = pointerType === 'touch')}
        onPointerLeave={({ pointerType }) => {
          if (pointerType !== 'touch') pointed.value = undefined
        }}
        onClick={() => {
          // A finger has no pointer to look with: its first touch shows the point, and the link below opens it.
          if (pointed.value !== undefined && !isTouch.current) navigate(hrefAt(pointed.value))
        }}
      >
        <Plot chart={chart} series={series} pointed={pointed} />
      </div>
      <p class="stat-chart-foot faint">
        {pointed.value === undefined ? (
          <>
            {chart.lines.length > 1 &&
              chart.lines.map(({ name, tone }) => (
                <span key={name} class={`stat-chart-name ${tone}`} aria-hidden="true">
                  {name}
                </span>
              ))}
            {chart.summary}
          </>
        ) : (
          <a tabIndex={-1} href={hrefAt(at)}>
            {valueText}
          </a>
        )}
      </p>
    </figure>
  )
}

function Plot({ chart, series, pointed }: Omit<StatChartViewProps, 'hrefAt'>) {
  const frame = useRef<HTMLDivElement>(null)
  const { width } = useSize(frame, { width: 300, height }).value
  const count = Math.max(1, series.steps.length)
  const most = highest(chart) * 1.1 || 1
  const rows = valueTicks(chart, most)
  const left = 14 + digitWidth * Math.max(...rows.map(({ label }) => label.length))
  const stepWidth = Math.max(0, width - left - right) / count
  const x = (index: number): number => left + index * stepWidth
  const y = (value: number): number => height - bottom - (value / most) * (height - bottom - top)
  const at = pointed.value

  return (
    <div
      ref={frame}
      class="stat-chart-frame"
      onPointerMove={({ offsetX }) => {
        pointed.value = Math.max(0, Math.min(count - 1, Math.floor((offsetX - left) / stepWidth)))
      }}
    >
      <svg width={width} height={height} aria-hidden="true">
        {rows.map(({ share, label }) => (
          <g key={label} class="stat-chart-row">
            <path d={`M${left} ${y(share * most)}H${width - right}`} />
            <text x={left - 6} y={y(share * most) + 4}>
              {label}
            </text>
          </g>
        ))}
        {timeTicks(series, (width - left) / timeWidth).map(({ share, label }) => (
          <text key={share} x={x(share * count)} y={height - 4} class="stat-chart-time">
            {label}
          </text>
        ))}
        {chart.look === 'bars'
          ? barPaths(chart.lines, x, y, Math.min(widestBar, stepWidth * 0.72)).map((d, line) => (
              <path key={line} class={`stat-chart-bars ${chart.lines[line]?.tone}`} d={d} />
            ))
          : chart.lines.flatMap(({ tone, values }) => {
              const { line, dots } = linePaths(values, (index) => x(index + 0.5), y)
              return [
                <path key={tone} class={`stat-chart-line ${tone}`} d={line} />,
                <path key={`${tone} dots`} class={`stat-chart-line stat-chart-dots ${tone}`} d={dots} />,
              ]
            })}
        {at !== undefined && at < count && (
          <path class="stat-chart-cursor" d={`M${x(at + 0.5)} ${top}V${height - bottom}`} />
        )}
      </svg>
    </div>
  )
}

type Scale = (value: number) => number

/** One path per line, each bar on top of those of the lines before. */
function barPaths(lines: readonly ChartLine[], x: Scale, y: Scale, width: number): readonly string[] {
  const below: number[] = []
  return lines.map(({ values }) =>
    values
      .map((value, index) => {
        const base = below[index] ?? 0
        below[index] = base + (value ?? 0)
        return value ? `M${x(index)} ${y(base)}V${y(base + value)}h${width}V${y(base)}z` : ''
      })
      .join(''),
  )
}

/** A gap begins a new piece. A single value between gaps is a dot, because a line would not show it. */
function linePaths(values: ChartLine['values'], x: Scale, y: Scale): { readonly line: string; readonly dots: string } {
  let [line, dots] = ['', '']
  for (const [index, value] of values.entries()) {
    if (value === null) continue
    const [previous, next] = [values[index - 1] ?? null, values[index + 1] ?? null]
    const point = `${x(index)} ${y(value)}`
    if (previous !== null) line += `L${point}`
    else if (next !== null) line += `M${point}`
    else dots += `M${point}h0`
  }
  return { line, dots }
}

function pointText({ lines, show }: StatChart, { steps, stepMs }: StatSeries, at: number): string {
  const values = lines.map(({ name, values: all }) => {
    const value = all[at] ?? null
    const text = value === null ? '–' : show(value)
    return lines.length === 1 ? text : `${name} ${text}`
  })
  return `${stepLabel(steps[at]?.at ?? 0, stepMs)}  ${values.join(' · ')}`
}

/** In place of a chart while it loads: as large, so that nothing moves. */
export function StatChartSkeleton({ title }: { readonly title: string }) {
  return (
    <figure class="panel stat-chart" aria-busy="true">
      <figcaption>
        <h3>{title}</h3>
      </figcaption>
      <div class="skeleton-bar" style={{ height: `${height}px` }} />
      <p class="stat-chart-foot" />
    </figure>
  )
}
