/** Two texts beside each other, line by line; what was taken away is marked on the left, what came on the right. */
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { diffTexts } from './text-diff.ts'
import type { Piece } from './text-diff.ts'

/** Drawn at first; long answers are shown on demand. */
const page = 500

export function DiffView({ left, right }: { readonly left: string; readonly right: string }) {
  const rows = useMemo(() => diffTexts(left, right), [left, right])
  const shown = useSignal(page)
  return (
    <div class="diff">
      {rows.slice(0, shown.value).map((row, index) => (
        <div key={index} class={row.isSame ? 'diff-row same' : 'diff-row'}>
          <Line pieces={row.left} side="left" />
          <Line pieces={row.right} side="right" />
        </div>
      ))}
      {rows.length > shown.value && (
        <button type="button" class="small" onClick={() => (shown.value += page * 4)}>
          {rows.length - shown.value} more lines
        </button>
      )}
    </div>
  )
}

function Line({ pieces, side }: { readonly pieces: readonly Piece[] | undefined; readonly side: 'left' | 'right' }) {
  if (pieces === undefined) return <div class={`diff-line ${side} none`} />
  const isChanged = pieces.some(({ isMarked }) => isMarked)
  return (
    <div class={isChanged ? `diff-line ${side} changed` : `diff-line ${side}`}>
      {pieces.map(({ text, isMarked }, index) => {
        if (!isMarked) return <span key={index}>{text}</span>
        return side === 'left' ? <del key={index}>{text}</del> : <ins key={index}>{text}</ins>
      })}
      {/* An empty line has a height. */}
      {'\u200b'}
    </div>
  )
}
