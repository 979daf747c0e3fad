/** One span of a waterfall: how deep it stands, what it is, when it ran, and what it took. */
import { cost, duration, short } from '../parts/words.ts'
import { errorOf, isRunning, lookOfSpan, stretchOf, usedBy, wordsOf } from './span-tree.ts'
import type { Line, Stretch } from './span-tree.ts'
import { barOf } from './time-axis.ts'

export interface SpanRowProps {
  readonly line: Line
  readonly index: number
  readonly now: number
  /** What the axis shows. */
  readonly seen: Stretch
  readonly columns: { readonly tokens: boolean; readonly cost: boolean }
  readonly isSelected: boolean
  onSelect(): void
  onFold(): void
}

/** Deeper ones are not moved further: their names would have no room. */
const deepest = 12

export function SpanRow({ line, index, now, seen, columns, isSelected, onSelect, onFold }: SpanRowProps) {
  const { span, depth, below, isFolded } = line
  const { sort, name } = wordsOf(span)
  const { tone, shape, word } = lookOfSpan(span)
  const used = usedBy(span)
  const stretch = stretchOf(span, now)
  const tokens = used.inputTokens + used.outputTokens
  const error = errorOf(span)
  return (
    <div class={`waterfall-line waterfall-row ${tone}${isSelected ? ' selected' : ''}`}>
      <span class="waterfall-cell" style={{ '--depth': Math.min(depth, deepest) }}>
        {below > 0 ? (
          <button
            type="button"
            class="waterfall-fold"
            aria-expanded={!isFolded}
            aria-label={`${isFolded ? 'Unfold' : 'Fold'} ${sort} ${name}`}
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
          data-row={index}
          aria-current={isSelected ? 'true' : undefined}
          title={error === undefined ? `${sort} ${name}` : `${sort} ${name}: ${error}`}
          onClick={onSelect}
        >
          {tone !== 'done' && (
            <span class="waterfall-shape" aria-hidden="true">
              {shape}
            </span>
          )}
          <span class="cut">
            {sort !== '' && <span class="waterfall-sort">{sort} </span>}
            {name}
          </span>
          {isFolded && <span class="faint">+{short(below)}</span>}
          <span class="unseen">
            , level {depth + 1}, {word}, {duration(stretch.to - stretch.from)}
          </span>
        </button>
      </span>
      <span class="waterfall-lane" aria-hidden="true">
        <Lane kind={span.kind} bar={barOf(stretch, seen)} isRunning={isRunning(span)} />
      </span>
      <span class="waterfall-number">{duration(stretch.to - stretch.from)}</span>
      {columns.tokens && (
        <span
          class="waterfall-number waterfall-tokens"
          title={tokens > 0 ? `${used.inputTokens} in, ${used.outputTokens} out` : undefined}
        >
          {tokens > 0 ? short(tokens) : ''}
        </span>
      )}
      {columns.cost && (
        <span class="waterfall-number waterfall-cost">{used.cost === undefined ? '' : cost(used.cost)}</span>
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
