/** Two texts side by side, line by line; removals are marked on the left, additions on the right. */
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { diffTexts } from './text-diff.ts'
import type { DiffSegment } from './text-diff.ts'

/** Rows rendered at first; the rest on demand. */
const page = 500

export function TextDiffView({ left, right }: { readonly left: string; readonly right: string }) {
  const rows = useMemo(() => diffTexts(left, right), [left, right])
  const shown = useSignal(page)
  return (
    <div class="diff">
      {rows.slice(0, shown.value).map((row, index) => (
        <div key={index} class={row.isSame ? 'diff-row same' : 'diff-row'}>
          <DiffSide pieces={row.left} side="left" />
          <DiffSide pieces={row.right} side="right" />
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

function DiffSide({
  pieces,
  side,
}: {
  readonly pieces: readonly DiffSegment[] | undefined
  readonly side: 'left' | 'right'
}) {
  if (pieces === undefined) return <div class={`diff-line ${side} none`} />
  const isChanged = pieces.some(({ isMarked }) => isMarked)
  return (
    <div class={isChanged ? `diff-line ${side} changed` : `diff-line ${side}`}>
      {pieces.map(({ text, isMarked }, index) => {
        if (!isMarked) return <span key={index}>{text}</span>
        return side === 'left' ? <del key={index}>{text}</del> : <ins key={index}>{text}</ins>
      })}
      {/* Gives an empty line its height. */}
      {'\u200b'}
    </div>
  )
}
