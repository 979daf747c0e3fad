/** A block of code with a copy button: a command, a snippet, a file or a protocol frame. Highlighted if its language is known. */
import { useLayoutEffect, useRef } from 'preact/hooks'
import { CopyButton } from './copy-button.tsx'
import { loadHighlighter, showCode } from './highlight-code.ts'
import type { LanguageName } from './language-names.ts'
import './code-block.css'

export function CodeBlock({
  text,
  label,
  language,
  wrap = false,
}: {
  readonly text: string
  /** What it is, for screen readers. */
  readonly label: string
  /** Shown above the code. */
  readonly language?: LanguageName | undefined
  readonly wrap?: boolean
}) {
  const code = useRef<HTMLElement>(null)
  const id = language?.id
  const canHighlight = id !== undefined && loadHighlighter()
  useLayoutEffect(
    () => (code.current === null ? undefined : showCode(code.current, text, id)),
    [text, id, canHighlight],
  )
  return (
    <div class={language === undefined ? 'code' : 'code titled'} dir="ltr">
      {language !== undefined && <p class="code-language">{language.title}</p>}
      {/* Focusable, so that long code can be scrolled with the keyboard. */}
      <pre class={wrap ? 'wrap' : ''} tabIndex={0} aria-label={label}>
        <code ref={code} />
      </pre>
      <CopyButton text={text} label={`Copy ${label}`} />
    </div>
  )
}
