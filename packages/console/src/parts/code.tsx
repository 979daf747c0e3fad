/** A piece of code with its copy button: a command, a snippet, a frame of the wire. */
import { Copy } from './copy.tsx'
import './code.css'

export function Code({
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
      {/* Long ones are scrolled, also by those who use no mouse. */}
      <pre class={wrap ? 'wrap' : ''} tabIndex={0} aria-label={label}>
        <code>{text}</code>
      </pre>
      <Copy text={text} label={`Copy ${label}`} />
    </div>
  )
}
