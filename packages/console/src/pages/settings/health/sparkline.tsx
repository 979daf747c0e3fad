/** A line chart of the last hour. uPlot is loaded when the chart becomes visible; the text beside it says the same. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type uPlot from 'uplot'
import { loadWithRetry } from '../../../api/load-with-retry.ts'
import { isDark } from '../../../app/theme.ts'
import { minuteLabel, type Chart } from './recent-stats.ts'
import './sparkline.css'

const height = 72
/** The cursor is synchronised over all charts with this key. */
const syncKey = 'health'

export function Sparkline({ chart, times }: { readonly chart: Chart; readonly times: readonly number[] }) {
  const frame = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const latest = useRef({ chart, times })
  latest.current = { chart, times }
  const pointed = useSignal<number | undefined>(undefined)

  // Draws again when the theme changes: a canvas does not follow the style sheet.
  useEffect(() => {
    let isGone = false
    let watch: ResizeObserver | undefined
    void loadWithRetry(() => import('./draw-sparkline.ts')).then(({ drawSparkline }) => {
      const element = frame.current
      if (isGone || element === null) return
      const { chart: now, times: at } = latest.current
      plot.current = drawSparkline(element, dataOf(now, at), {
        tones: now.lines.map(({ tone }) => tone),
        height,
        syncKey,
        onPoint: (index) => (pointed.value = index),
      })
      watch = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height }))
      watch.observe(element)
    })
    return () => {
      isGone = true
      watch?.disconnect()
      plot.current?.destroy()
      plot.current = undefined
    }
  }, [isDark.value, chart.lines.map(({ tone }) => tone).join(' ')])
  useEffect(() => {
    plot.current?.setData(dataOf(chart, times))
  }, [chart, times])

  const at = pointed.value
  return (
    <figure class="panel spark">
      <figcaption>
        <h3>{chart.title}</h3>
        <p class="spark-now">{at === undefined ? chart.now : pointedText(chart, times, at)}</p>
      </figcaption>
      <div ref={frame} class="spark-plot" aria-hidden="true" style={{ height: `${height}px` }} />
      <p class="spark-foot faint">
        {chart.lines.length > 1 &&
          chart.lines.map(({ name, tone }) => (
            <span key={name} class={`spark-name ${tone}`} aria-hidden="true">
              {name}
            </span>
          ))}
        {chart.summary}
      </p>
    </figure>
  )
}

function dataOf({ lines }: Chart, times: readonly number[]): uPlot.AlignedData {
  return [[...times], ...lines.map(({ values }) => [...values])]
}

function pointedText({ lines, show }: Chart, times: readonly number[], at: number): string {
  const values = lines.map(({ values: all }) => all[at] ?? null)
  const text = values.map((value) => (value === null ? '–' : show(value))).join(' / ')
  return `${minuteLabel((times[at] ?? 0) * 1_000)}  ${text}`
}
