/**
 * A chart of one statistic over time. uPlot is loaded when the chart becomes visible; the text beside it contains the same values. A
 * click on a point, or Enter, opens the tasks of that moment.
 */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type uPlot from 'uplot'
import { loadWithRetry } from '../../api/load-with-retry.ts'
import { navigate } from '../../app/router.ts'
import { isDark } from '../../app/theme.ts'
import { stepLabel, type StatChart } from './stat-charts.ts'
import { statsStrings as strings } from './strings.ts'
import './stat-chart-view.css'

const height = 132
/** The cursor is synchronised over all charts of a page. */
const syncKey = 'stats'

export interface StatChartViewProps {
  readonly chart: StatChart
  /** The starts of the steps, in seconds. */
  readonly times: readonly number[]
  readonly stepMs: number
  /** The tasks of a step. */
  readonly hrefAt: (index: number) => string
}

export function StatChartView({ chart, times, stepMs, hrefAt }: StatChartViewProps) {
  const frame = useRef<HTMLDivElement>(null)
  const drawn = useRef<{ readonly plot: uPlot; readonly update: (chart: StatChart, times: readonly number[]) => void }>(
    undefined,
  )
  const latest = useRef({ chart, times })
  latest.current = { chart, times }
  const pointed = useSignal<number | undefined>(undefined)
  const isTouch = useRef(false)

  // Draws again when the theme changes: a canvas does not follow the style sheet.
  useEffect(() => {
    let isGone = false
    let watch: ResizeObserver | undefined
    void loadWithRetry(() => import('./draw-chart.ts')).then(({ chartData, drawChart }) => {
      const element = frame.current
      if (isGone || element === null) return
      const { chart: first, times: firstTimes } = latest.current
      const onPoint = (index: number | undefined): void => void (pointed.value = index)
      const plot = drawChart(element, first, chartData(first, firstTimes), { height, stepMs, syncKey, onPoint })
      drawn.current = { plot, update: (changed, at) => plot.setData(chartData(changed, at)) }
      watch = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }))
      watch.observe(element)
    })
    return () => {
      isGone = true
      watch?.disconnect()
      drawn.current?.plot.destroy()
      drawn.current = undefined
    }
  }, [isDark.value, stepMs])
  useEffect(() => drawn.current?.update(chart, times), [chart, times])

  const last = times.length - 1
  const at = Math.min(pointed.value ?? last, last)
  const valueText = pointText(chart, times, at, stepMs)

  function moveTo(index: number): void {
    const plot = drawn.current?.plot
    const to = Math.max(0, Math.min(last, index))
    pointed.value = to
    plot?.setCursor({
      left: plot.valToPos((times[to] ?? 0) + (chart.look === 'bars' ? stepMs / 2_000 : 0), 'x'),
      top: 1,
    })
  }

  function onKeyDown(event: KeyboardEvent): void {
    const from = pointed.value ?? last + 1
    const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last }[event.key]
    if (to !== undefined) moveTo(to)
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
        title={strings.openTasks(stepLabel((times[at] ?? 0) * 1_000, stepMs))}
        style={{ height: `${height}px` }}
        onKeyDown={onKeyDown}
        onBlur={() => drawn.current?.plot.setCursor({ left: -10, top: -10 })}
        onPointerDown={({ pointerType }) => (isTouch.current = pointerType === 'touch')}
        onClick={() => {
          // A finger has no pointer to look with: its first touch shows the point, and the link below opens it.
          if (pointed.value !== undefined && !isTouch.current) navigate(hrefAt(pointed.value))
        }}
      >
        <div ref={frame} aria-hidden="true" />
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

function pointText({ lines, show }: StatChart, times: readonly number[], at: number, stepMs: number): string {
  const values = lines.map(({ name, values: all }) => {
    const value = all[at] ?? null
    const text = value === null ? strings.noValue : show(value)
    return lines.length === 1 ? text : `${name} ${text}`
  })
  return `${stepLabel((times[at] ?? 0) * 1_000, stepMs)}  ${values.join(' · ')}`
}

/** In place of a chart while it loads: as large, so that nothing moves. */
export function StatChartSkeleton({ title }: { readonly title: string }) {
  return (
    <figure class="panel stat-chart" aria-busy="true">
      <figcaption>
        <h3>{title}</h3>
      </figcaption>
      <div class="stat-chart-skeleton" style={{ height: `${height}px` }} />
      <p class="stat-chart-foot" />
    </figure>
  )
}
