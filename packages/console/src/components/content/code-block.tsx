/** A block of code with a copy button: a command, a snippet or a protocol frame. */
import { CopyButton } from './copy-button.tsx'
import './code-block.css'

export function CodeBlock({
  text,
  label,
  wrap = false,
}: {
  readonly text: string
  readonly label: string
  readonly wrap?: boolean
}) {
  return (
    <div class="code">
      {/* Focusable, so that long code can be scrolled with the keyboard. */}
      <pre class={wrap ? 'wrap' : ''} tabIndex={0} aria-label={label}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} label={`Copy ${label}`} />
    </div>
  )
}
