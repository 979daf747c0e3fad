/** The coloured text of the editor: only the lines in view, so that a long file stays fast to type in. */
import type { RefObject } from 'preact'
import { useMemo } from 'preact/hooks'
import { useSize } from '../layout/use-size.ts'
import { lineTop } from './editor-field.ts'
import { yamlLines, type TokenLine } from './yaml-lines.ts'
import '../content/code-block.css'

export interface ColouredLinesProps {
  readonly text: string
  readonly field: RefObject<HTMLTextAreaElement | null>
  readonly scrollTop: number
}

/** Lines beyond the view on each side. */
const spare = 20
/** Of phones, which have the larger one; the smaller only draws a few lines more. */
const lineHeightPx = 20

export function ColouredLines({ text, field, scrollTop }: ColouredLinesProps) {
  const lines = useMemo(() => yamlLines(text), [text])
  const { height } = useSize(field, { width: 0, height: 800 }).value
  // Phones have taller lines, so fewer fit and the first is further up.
  const first = Math.max(0, Math.floor((scrollTop / lineHeightPx) * 0.8) - spare)
  const last = Math.ceil((scrollTop + height) / lineHeightPx) + spare
  return (
    <div class="editor-colours" style={{ top: lineTop(first + 1) }}>
      {lines.slice(first, last).map((line, index) => (
        <ColouredLine key={first + index} line={line} />
      ))}
    </div>
  )
}

function ColouredLine({ line }: { readonly line: TokenLine }) {
  return (
    <div class="editor-text-line">
      {line.map(({ kind, text }, index) =>
        kind === 'plain' ? (
          text
        ) : (
          <span key={index} class={`code-${kind}`}>
            {text}
          </span>
        ),
      )}
    </div>
  )
}
