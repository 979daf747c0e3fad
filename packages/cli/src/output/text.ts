/**
 * The text format: one `Label: value` per line, and blocks for values of several lines. The lines of a block are indented and a blank
 * line ends it, so that text of an agent can neither end a block nor look like a label. The labels are stable: scripts read them.
 */
import { neutralize } from '@parley/a2a/command-line'

/** One line, or a block if the value has several lines. An empty value is shown as `""`, since nothing would begin a block. */
export function field(label: string, value: string): string {
  const safe = safeText(value)
  if (!safe.includes('\n')) return `${label}: ${safe === '' ? '""' : safe}\n`
  return blockOf(label, safe)
}

/** `Label:`, the indented lines, and a blank line. */
export function block(label: string, text: string): string {
  return blockOf(label, safeText(text))
}

function blockOf(label: string, safe: string): string {
  const lines = safe.split('\n')
  return `${label}:\n${lines.map((line) => `  ${line}`).join('\n')}\n\n`
}

/**
 * Line ends of every system are the same, and the one after the last line is not shown. Tabs become spaces, because a tab is a control
 * character too.
 */
function safeText(text: string): string {
  return neutralize(text.replaceAll(/\r\n?/g, '\n').replace(/\n$/, '').replaceAll('\t', '    '))
}
