/** Markdown that is still being written: only its last piece is rendered anew with what comes. */
import { useMemo, useRef } from 'preact/hooks'
import { Markdown } from '../parts/markdown.tsx'
import { cut, noPieces } from './markdown-pieces.ts'

/** So much is rendered as one, with all its references; more in pieces, and far more as it is. */
const atOnce = 60_000
const mostMarkdown = 400_000

export function GrowingMarkdown({ text, isWhole }: { readonly text: string; readonly isWhole: boolean }) {
  const pieces = useRef(noPieces)
  if (text.length > mostMarkdown)
    return (
      <pre class="part-text" dir="auto">
        {text}
      </pre>
    )
  if (isWhole && text.length <= atOnce) return <Piece text={text} />
  pieces.current = cut(text, pieces.current)
  const { whole, rest } = pieces.current
  return (
    <div class="part-pieces">
      {whole.map((piece, index) => (
        <Piece key={index} text={piece} />
      ))}
      {rest !== '' && <Piece key="rest" text={rest} />}
    </div>
  )
}

function Piece({ text }: { readonly text: string }) {
  return useMemo(() => <Markdown text={text} />, [text])
}
