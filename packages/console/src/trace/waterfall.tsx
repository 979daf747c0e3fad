/**
 * A trace as a waterfall: one line per span, bars on one time axis; running spans grow. The details of the selected span are
 * shown beside it.
 */
import { useSignal } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import type { AdminResponse } from '../api/admin-client.ts'
import type { Span } from '../api/admin.ts'
import { now } from '../api/resource.ts'
import { useShortcuts } from '../app/shortcuts.ts'
import { query, setQuery } from '../app/router.ts'
import { useSize } from '../components/layout/use-size.ts'
import { useListShortcuts } from '../components/list/list-shortcuts.ts'
import { VirtualList } from '../components/list/virtual-list.tsx'
import { SpanDetails } from './span-details.tsx'
import { SpanRow } from './span-row.tsx'
import {
  isSpanRunning,
  spanLines,
  spanPath,
  flattenSpans,
  spanTimeRange,
  spanUsage,
  totalTimeRange,
  spanLabel,
} from './span-tree.ts'
import type { SpanLine } from './span-tree.ts'
import { zoomRange, axisTicks } from './time-axis.ts'
import './waterfall.css'
import { pluralize } from '../components/format.ts'

/** As `getTrace` returns it: the totals and the tree. */
export type TraceTree = AdminResponse<'getTrace'>['traces'][number]

export interface WaterfallProps {
  readonly trace: TraceTree
  /** Other roots of the same trace, if an external trace led to several tasks. */
  readonly more?: readonly TraceTree[] | undefined
  /** The id of a span. */
  readonly selected?: string | undefined
  /** Called with the id of the span, or an empty string when it is closed. */
  readonly onSelect?: ((spanId: string) => void) | undefined
}

const isPhone = matchMedia('(max-width: 720px)')
/** The width of the longest label. */
const tickWidth = 72

const spanKey = ({ span }: SpanLine): string => span.spanId

/** Fills its column. The address holds the zoomed span as `zoom`. */
export function Waterfall({ trace, more = [], selected = '', onSelect }: WaterfallProps) {
  const frame = useRef<HTMLElement>(null)
  const axis = useRef<HTMLSpanElement>(null)
  const axisWidth = useSize(axis, { width: 400, height: 0 }).value.width
  const folded = useSignal<ReadonlySet<string>>(new Set())
  const roots = useMemo(() => [trace, ...more].map(({ root }) => root), [trace, ...more])
  const spans = useMemo(() => flattenSpans(roots), [roots])
  const lines = useMemo(() => spanLines(roots, folded.value), [roots, folded.value])
  const at = spans.some(isSpanRunning) ? now.value : 0
  const whole = totalTimeRange(spans, at)
  const zoom = spans.find(({ spanId }) => spanId === query.value.get('zoom'))
  const seen = zoom === undefined ? whole : zoomRange(spanTimeRange(zoom, at), whole)
  const ticks = axisTicks(whole.from, seen, Math.max(2, Math.floor(axisWidth / tickWidth)))
  const shownSpan = spans.find(({ spanId }) => spanId === selected)
  const open = lines.findIndex(({ span }) => span.spanId === selected)
  const columns = {
    tokens: spans.some((span) => spanUsage(span).inputTokens + spanUsage(span).outputTokens > 0),
    cost: spans.some((span) => spanUsage(span).cost !== undefined),
  }

  const select = (span: Span | undefined): void => onSelect?.(span?.spanId ?? '')
  const fold = (spanId: string, isToBeFolded: boolean): void => {
    const next = new Set(folded.value)
    if (isToBeFolded) next.add(spanId)
    else next.delete(spanId)
    folded.value = next
  }
  const { cursor, move } = useListShortcuts({
    items: lines,
    keyOf: spanKey,
    noun: 'span',
    at: open,
    frame,
    hasFilter: false,
    open: ({ span }) => select(span),
    close: shownSpan === undefined ? undefined : () => select(undefined),
  })
  const current = lines[cursor ?? 0]
  function leftward(): void {
    if (current === undefined) return
    if (current.descendantCount > 0 && !current.isFolded) return fold(current.span.spanId, true)
    const parent = spanPath(roots, current.span.spanId).at(-2)
    if (parent !== undefined) select(parent)
  }
  useShortcuts([
    { key: 'ArrowDown', label: 'Next span', run: () => move(1) },
    { key: 'ArrowUp', label: 'Previous span', run: () => move(-1) },
    { key: 'ArrowLeft', label: 'Fold, or go to the parent span', run: leftward },
    { key: 'ArrowRight', label: 'Unfold', run: () => current !== undefined && fold(current.span.spanId, false) },
    { key: 'z', label: 'Zoom to the span', run: () => setQuery({ zoom: current?.span.spanId }) },
    { key: '0', label: 'Show the whole time', run: () => setQuery({ zoom: '' }) },
  ])

  const hasFolds = folded.value.size > 0
  const inner = useMemo(() => delegatedTaskSpans(roots), [roots])
  const look = `${columns.tokens ? ' with-tokens' : ''}${columns.cost ? ' with-cost' : ''}`
  return (
    <section ref={frame} class={`waterfall${look}`} aria-label="Waterfall">
      <div class="waterfall-main">
        <PartialTraceNote traces={[trace, ...more]} />
        <div class="waterfall-line waterfall-head">
          <span class="waterfall-tools">
            <span class="faint">{pluralize(spans.length, 'span')}</span>
            {(hasFolds || inner.length > 0) && (
              <button type="button" class="plain small" onClick={() => (folded.value = new Set(hasFolds ? [] : inner))}>
                {hasFolds ? 'Unfold all' : 'Fold tasks'}
              </button>
            )}
          </span>
          <span ref={axis} class="waterfall-axis" aria-hidden="true">
            {ticks
              .filter(({ share }) => (1 - share) * axisWidth >= tickWidth / 2)
              .map(({ share, label }) => (
                <span key={label} style={{ left: `${share * 100}%` }}>
                  {label}
                </span>
              ))}
          </span>
          <span class="waterfall-number">Time</span>
          {columns.tokens && <span class="waterfall-number waterfall-tokens">Tokens</span>}
          {columns.cost && <span class="waterfall-number waterfall-cost">Cost</span>}
        </div>
        {zoom !== undefined && (
          <p class="waterfall-zoom">
            <span class="cut">
              {`Zoomed to ${spanLabel(zoom).type} `}
              <strong>{spanLabel(zoom).name}</strong>
            </span>
            <button type="button" class="small" onClick={() => setQuery({ zoom: '' })}>
              Show the whole time
            </button>
          </p>
        )}
        <div class="fill waterfall-body">
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
            items={lines}
            rowHeight={isPhone.matches ? 36 : 28}
            keyOf={spanKey}
            selected={cursor}
            row={(line) => (
              <SpanRow
                line={line}
                now={at}
                seen={seen}
                columns={columns}
                isSelected={line.span.spanId === selected}
                onSelect={() => select(line.span)}
                onFold={() => fold(line.span.spanId, !line.isFolded)}
              />
            )}
          />
        </div>
      </div>
      {shownSpan !== undefined && (
        <SpanDetails span={shownSpan} start={whole.from} now={at} onClose={() => select(undefined)} />
      )}
    </section>
  )
}

/** Which parts of the trace are not shown, and why. */
function PartialTraceNote({ traces }: { readonly traces: readonly TraceTree[] }) {
  if (!traces.some(({ isPartial }) => isPartial)) return null
  return (
    <p class="waterfall-note" role="note">
      This trace is incomplete: the log of a task was dropped, or the trace exceeds the limit of spans. The totals
      include everything.
    </p>
  )
}

/** The spans of delegated tasks; the root stays open. */
function delegatedTaskSpans(roots: readonly Span[]): readonly string[] {
  return flattenSpans(roots).flatMap((span) =>
    span.kind === 'task' && !roots.includes(span) && span.children.length > 0 ? [span.spanId] : [],
  )
}
