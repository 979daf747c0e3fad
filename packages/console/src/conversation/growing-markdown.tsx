/** Markdown that is still streaming: only its last piece is rendered again. */
import { useMemo, useRef } from 'preact/hooks'
import { Markdown } from '../components/content/markdown.tsx'
import { splitMarkdown, emptyMarkdownPieces } from './markdown-pieces.ts'

/** Up to this length the text is rendered as one, with all its references; longer text in pieces; far longer text as plain text. */
const maxWholeLength = 60_000
const maxMarkdownLength = 400_000

export function GrowingMarkdown({ text, isWhole }: { readonly text: string; readonly isWhole: boolean }) {
  const pieces = useRef(emptyMarkdownPieces)
  if (text.length > maxMarkdownLength)
    return (
      <pre class="part-text" dir="auto">
        {text}
      </pre>
    )
  if (isWhole && text.length <= maxWholeLength) return <Piece text={text} />
  pieces.current = splitMarkdown(text, pieces.current)
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
