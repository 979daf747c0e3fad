/** One span of a waterfall: depth, name, bar and usage. */
import { formatCost, formatDuration, formatCompact } from '../components/format.ts'
import { spanError, isSpanRunning, spanStatus, spanTimeRange, spanUsage, spanLabel } from './span-tree.ts'
import type { SpanLine, SpanTimeRange } from './span-tree.ts'
import { barOf } from './time-axis.ts'

const unfoldSpanText = (span: string) => `Unfold ${span}`
const foldSpanText = (span: string) => `Fold ${span}`

export interface SpanRowProps {
  readonly line: SpanLine
  readonly now: number
  /** The time range of the axis. */
  readonly seen: SpanTimeRange
  readonly columns: { readonly tokens: boolean; readonly cost: boolean }
  readonly isSelected: boolean
  onSelect(): void
  onFold(): void
}

/** Deeper spans are not indented further: their names would have no room. */
const maxIndentDepth = 12

export function SpanRow({ line, now, seen, columns, isSelected, onSelect, onFold }: SpanRowProps) {
  const { span, depth, descendantCount, isFolded } = line
  const { type, name } = spanLabel(span)
  const { tone, shape, word } = spanStatus(span)
  const used = spanUsage(span)
  const stretch = spanTimeRange(span, now)
  const tokens = used.inputTokens + used.outputTokens
  const error = spanError(span)
  return (
    <div class={`waterfall-line waterfall-row ${tone}${isSelected ? ' selected' : ''}`}>
      <span class="waterfall-cell" style={{ '--depth': Math.min(depth, maxIndentDepth) }}>
        {descendantCount > 0 ? (
          <button
            type="button"
            class="waterfall-fold"
            aria-expanded={!isFolded}
            aria-label={(isFolded ? unfoldSpanText : foldSpanText)(`${type} ${name}`)}
            onClick={onFold}
          >
            {isFolded ? '▸' : '▾'}
          </button>
        ) : (
          <span class="waterfall-fold" />
        )}
        <button
          type="button"
          class="waterfall-name"
          data-row={span.spanId}
          aria-current={isSelected ? 'true' : undefined}
          title={error === undefined ? `${type} ${name}` : `${type} ${name}: ${error}`}
          onClick={onSelect}
        >
          {tone !== 'done' && (
            <span class="waterfall-shape" aria-hidden="true">
              {shape}
            </span>
          )}
          <span class="cut">
            {type !== '' && <span class="faint waterfall-sort">{type} </span>}
            {name}
          </span>
          {isFolded && <span class="faint">+{formatCompact(descendantCount)}</span>}
          <span class="unseen">
            , level {depth + 1}, {word}, {formatDuration(stretch.to - stretch.from)}
          </span>
        </button>
      </span>
      <span class="waterfall-lane" aria-hidden="true">
        <Lane kind={span.kind} bar={barOf(stretch, seen)} isRunning={isSpanRunning(span)} />
      </span>
      <span class="waterfall-number">{formatDuration(stretch.to - stretch.from)}</span>
      {columns.tokens && (
        <span
          class="waterfall-number waterfall-tokens"
          title={tokens > 0 ? `${used.inputTokens} in, ${used.outputTokens} out` : undefined}
        >
          {tokens > 0 ? formatCompact(tokens) : ''}
        </span>
      )}
      {columns.cost && (
        <span class="waterfall-number waterfall-cost">{used.cost === undefined ? '' : formatCost(used.cost)}</span>
      )}
    </div>
  )
}

interface LaneProps {
  readonly kind: string
  readonly bar: ReturnType<typeof barOf>
  readonly isRunning: boolean
}

function Lane({ kind, bar, isRunning: isOpen }: LaneProps) {
  if (bar === undefined) return null
  const style = { left: `${bar.left * 100}%`, width: `${bar.width * 100}%` }
  return <i class={`waterfall-bar ${kind}${isOpen ? ' open' : ''}`} style={style} />
}
