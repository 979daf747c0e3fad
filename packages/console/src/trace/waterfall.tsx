/**
 * A trace as a waterfall: what ran when, under what, and how it ended. One line a span, bars on one axis of time; what goes on
 * grows. The span that is selected is told beside it.
 */
import { useSignal } from '@preact/signals'
import type { ReadonlySignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { AnswerOf } from '../api/call.ts'
import type { Span } from '../api/admin.ts'
import { now } from '../api/resource.ts'
import { useKeys } from '../app/keys.ts'
import { query, setQuery } from '../app/router.ts'
import { useListKeys } from '../parts/list-keys.ts'
import { VirtualList } from '../parts/virtual-list.tsx'
import { many } from '../parts/words.ts'
import { SpanDetails } from './span-details.tsx'
import { SpanRow } from './span-row.tsx'
import { isRunning, linesOf, pathTo, spansOf, stretchOf, usedBy, wholeStretch, wordsOf } from './span-tree.ts'
import { around, ticksOf } from './time-axis.ts'
import './waterfall.css'

/** As `getTrace` answers it: the sums, and the tree. */
export type ShownTrace = AnswerOf<'getTrace'>['traces'][number]

export interface WaterfallProps {
  readonly trace: ShownTrace
  /** Other roots of the same trace, where a stranger's trace led to several tasks. */
  readonly more?: readonly ShownTrace[] | undefined
  /** The id of a span. */
  readonly selected?: string | undefined
  /** Told the id of the span; an empty one when it is closed. */
  readonly onSelect?: ((spanId: string) => void) | undefined
}

const isPhone = matchMedia('(max-width: 720px)')
/** As much room as the longest of the words takes. */
const tickWidth = 72

/** Fills the column that it stands in. Which span is zoomed to stands in the address, as `zoom`. */
export function Waterfall({ trace, more = [], selected = '', onSelect }: WaterfallProps) {
  const frame = useRef<HTMLElement>(null)
  const axis = useRef<HTMLSpanElement>(null)
  const axisWidth = useWidth(axis)
  const folded = useSignal<ReadonlySet<string>>(new Set())
  const roots = useMemo(() => [trace, ...more].map(({ root }) => root), [trace, ...more])
  const spans = useMemo(() => spansOf(roots), [roots])
  const lines = useMemo(() => linesOf(roots, folded.value), [roots, folded.value])
  const at = spans.some(isRunning) ? now.value : 0
  const whole = wholeStretch(spans, at)
  const zoom = spans.find(({ spanId }) => spanId === query.value.get('zoom'))
  const seen = zoom === undefined ? whole : around(stretchOf(zoom, at), whole)
  const ticks = ticksOf(whole.from, seen, Math.max(2, Math.floor(axisWidth.value / tickWidth)))
  const shownSpan = spans.find(({ spanId }) => spanId === selected)
  const open = lines.findIndex(({ span }) => span.spanId === selected)
  const columns = {
    tokens: spans.some((span) => usedBy(span).inputTokens + usedBy(span).outputTokens > 0),
    cost: spans.some((span) => usedBy(span).cost !== undefined),
  }

  const select = (span: Span | undefined): void => onSelect?.(span?.spanId ?? '')
  const fold = (spanId: string, isToBeFolded: boolean): void => {
    const next = new Set(folded.value)
    if (isToBeFolded) next.add(spanId)
    else next.delete(spanId)
    folded.value = next
  }
  const { cursor, move } = useListKeys({
    count: lines.length,
    at: open,
    frame,
    hasFilter: false,
    idOf: (index) => lines[index]?.span.spanId ?? '',
    open: (index) => select(lines[index]?.span),
    close: shownSpan === undefined ? undefined : () => select(undefined),
  })
  const current = lines[cursor ?? 0]
  function leftward(): void {
    if (current === undefined) return
    if (current.below > 0 && !current.isFolded) return fold(current.span.spanId, true)
    const parent = pathTo(roots, current.span.spanId).at(-2)
    if (parent !== undefined) select(parent)
  }
  useKeys([
    { key: 'ArrowDown', does: 'Next span', run: () => move(1) },
    { key: 'ArrowUp', does: 'Previous span', run: () => move(-1) },
    { key: 'ArrowLeft', does: 'Fold, or go to what it is part of', run: leftward },
    { key: 'ArrowRight', does: 'Unfold', run: () => current !== undefined && fold(current.span.spanId, false) },
    { key: 'z', does: 'Zoom to the span', run: () => setQuery({ zoom: current?.span.spanId }) },
    { key: '0', does: 'Show the whole time', run: () => setQuery({ zoom: '' }) },
  ])

  const hasFolds = folded.value.size > 0
  const inner = useMemo(() => innerTasks(roots), [roots])
  const look = `${columns.tokens ? ' with-tokens' : ''}${columns.cost ? ' with-cost' : ''}`
  return (
    <section ref={frame} class={`waterfall${look}`} aria-label="Waterfall">
      <div class="waterfall-main">
        <Notes traces={[trace, ...more]} />
        <div class="waterfall-line waterfall-head">
          <span class="waterfall-tools">
            <span class="faint">{many(spans.length, 'span')}</span>
            {(hasFolds || inner.length > 0) && (
              <button type="button" class="plain small" onClick={() => (folded.value = new Set(hasFolds ? [] : inner))}>
                {hasFolds ? 'Unfold all' : 'Fold tasks'}
              </button>
            )}
          </span>
          <span ref={axis} class="waterfall-axis" aria-hidden="true">
            {ticks
              .filter(({ share }) => (1 - share) * axisWidth.value >= tickWidth / 2)
              .map(({ share, label }) => (
                <span key={label} style={{ left: `${share * 100}%` }}>
                  {label}
                </span>
              ))}
          </span>
          <span class="waterfall-number">time</span>
          {columns.tokens && <span class="waterfall-number waterfall-tokens">tokens</span>}
          {columns.cost && <span class="waterfall-number waterfall-cost">cost</span>}
        </div>
        {zoom !== undefined && (
          <p class="waterfall-zoom">
            <span class="cut">
              Zoomed to {wordsOf(zoom).sort} <strong>{wordsOf(zoom).name}</strong>
            </span>
            <button type="button" class="small" onClick={() => setQuery({ zoom: '' })}>
              Show the whole time
            </button>
          </p>
        )}
        <div class="waterfall-body">
          <div class="waterfall-line waterfall-rules" aria-hidden="true">
            <span />
            <span class="waterfall-axis">
              {ticks.map(({ share, label }) => (
                <i key={label} style={{ left: `${share * 100}%` }} />
              ))}
            </span>
          </div>
          <VirtualList
            class="waterfall-rows"
            label="Spans"
            count={lines.length}
            rowHeight={isPhone.matches ? 36 : 28}
            keyOf={(index) => lines[index]?.span.spanId ?? ''}
            selected={cursor}
            row={(index) => {
              const line = lines[index]
              return (
                line !== undefined && (
                  <SpanRow
                    line={line}
                    index={index}
                    now={at}
                    seen={seen}
                    columns={columns}
                    isSelected={line.span.spanId === selected}
                    onSelect={() => select(line.span)}
                    onFold={() => fold(line.span.spanId, !line.isFolded)}
                  />
                )
              )
            }}
          />
        </div>
      </div>
      {shownSpan !== undefined && (
        <SpanDetails span={shownSpan} start={whole.from} now={at} onClose={() => select(undefined)} />
      )}
    </section>
  )
}

/** As it is now, in pixels. */
function useWidth(element: RefObject<HTMLElement | null>): ReadonlySignal<number> {
  const width = useSignal(400)
  useLayoutEffect(() => {
    const { current } = element
    if (current === null) return
    const watch = new ResizeObserver(() => (width.value = current.clientWidth))
    watch.observe(current)
    return () => watch.disconnect()
  }, [])
  return width
}

/** What of it is not shown, and why. */
function Notes({ traces }: { readonly traces: readonly ShownTrace[] }) {
  if (!traces.some(({ isPartial }) => isPartial)) return null
  return (
    <p class="waterfall-note" role="note">
      Part of this trace is not shown: the log of a task was dropped after its time, or there is more than fits. The
      sums count all of it.
    </p>
  )
}

/** Those that were handed on; the root stays open. */
function innerTasks(roots: readonly Span[]): readonly string[] {
  return spansOf(roots).flatMap((span) =>
    span.kind === 'task' && !roots.includes(span) && span.children.length > 0 ? [span.spanId] : [],
  )
}
