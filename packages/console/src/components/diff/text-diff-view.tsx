/** Two texts side by side, line by line; removals are marked on the left, additions on the right. */
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { diffTexts, markWords, type DiffLine } from './diff.ts'
import { sideBySide } from './diff-sections.ts'
import { pluralize } from '../format.ts'

/** Rows rendered at first; the rest on demand. */
const page = 500

export function TextDiffView({ left, right }: { readonly left: string; readonly right: string }) {
  const rows = useMemo(() => sideBySide(diffTexts(left, right)), [left, right])
  const shown = useSignal(page)
  return (
    <div class="diff">
      {rows.slice(0, shown.value).map((row, index) => (
        <div key={index} class={row.left?.change === 'same' ? 'diff-row same' : 'diff-row'}>
          <DiffSide line={row.left} other={row.right} side="left" />
          <DiffSide line={row.right} other={row.left} side="right" />
        </div>
      ))}
      {rows.length > shown.value && (
        <button type="button" class="small" onClick={() => (shown.value += page * 4)}>
          Show {pluralize(rows.length - shown.value, 'more line')}
        </button>
      )}
    </div>
  )
}

function DiffSide({
  line,
  other,
  side,
}: {
  readonly line: DiffLine | undefined
  readonly other: DiffLine | undefined
  readonly side: 'left' | 'right'
}) {
  if (line === undefined) return <div class={`diff-line ${side} none`} />
  const segments = markWords(line, other)
  const isChanged = segments.some(({ isMarked }) => isMarked)
  return (
    <div class={isChanged ? `diff-line ${side} changed` : `diff-line ${side}`}>
      {segments.map(({ text, isMarked }, index) => {
        if (!isMarked) return <span key={index}>{text}</span>
        return side === 'left' ? <del key={index}>{text}</del> : <ins key={index}>{text}</ins>
      })}
      {/* Gives an empty line its height. */}
      {'\u200b'}
    </div>
  )
}
