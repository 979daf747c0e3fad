/**
 * Renders Markdown for a terminal while it arrives: headings, emphasis, code, lists, quotes and links. Text is written as soon as its
 * meaning is certain; a mark that is never closed stays as it is, so that no character is lost. Other syntax is left as written.
 */

export interface MarkdownRenderer {
  /** Returns what can be written now. */
  push(text: string): string
  /** Returns the rest, and ends every style. */
  end(): string
}

/** Select Graphic Rendition: on and off. */
const styles = {
  bold: ['\u001B[1m', '\u001B[22m'],
  italic: ['\u001B[3m', '\u001B[23m'],
  dim: ['\u001B[2m', '\u001B[22m'],
  underline: ['\u001B[4m', '\u001B[24m'],
  code: ['\u001B[36m', '\u001B[39m'],
} as const
type Style = keyof typeof styles

export function styled(text: string, style: Style): string {
  const [on, off] = styles[style]
  return text === '' ? '' : `${on}${text}${off}`
}

/** What a line can begin with as long as it may still become a list, a heading, a rule or a fence. */
const undecidedStart = /^\s*(?:[#>*+~`_-]*|\d{1,9}[.)]?|[*+-] ?)$/
/** A longer span is no span: it must neither hold the text back nor be searched for in quadratic time. */
const maxHeldLength = 2_000

export function createMarkdownRenderer(): MarkdownRenderer {
  /** The part of the line that was not written yet. */
  let held = ''
  let isLineStart = true
  /** The marks that end the code block, while in one. */
  let fence: string | undefined
  let lineEnd = ''

  function render(isLineOver: boolean): string {
    if (fence !== undefined || isFenceStart()) return isLineOver ? codeLine() : ''
    let written = ''
    if (isLineStart) {
      if (!isLineOver && undecidedStart.test(held)) return ''
      written = beginLine()
      isLineStart = false
    }
    const [text, rest] = inline(held, isLineOver)
    held = rest
    // Bold text within a heading must not end its style.
    return written + (lineEnd === '' ? text : text.replaceAll(styles.bold[1], styles.bold[1] + styles.bold[0]))
  }

  const isFenceStart = (): boolean => isLineStart && /^\s{0,3}(?:```|~~~)/.test(held)

  function codeLine(): string {
    const line = held
    held = ''
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (fence === undefined) {
      fence = mark
      const language = line.replace(/^\s*[`~]+/, '').trim()
      return styled(language, 'dim')
    }
    if (mark !== undefined && mark.startsWith(fence) && line.trim() === mark) {
      fence = undefined
      return ''
    }
    return `  ${styled(line, 'code')}`
  }

  /** Writes the mark of a list, quote, heading or rule, and removes it from the held text. */
  function beginLine(): string {
    lineEnd = ''
    const [, indent = '', rest = ''] = /^(\s*)(.*)$/s.exec(held) ?? []
    if (/^(?:-{3,}|\*{3,}|_{3,})$/.test(rest.trim())) {
      held = ''
      return styled('─'.repeat(20), 'dim')
    }
    const heading = /^#{1,6} +/.exec(rest)
    if (heading !== null && indent.length < 4) {
      held = rest.slice(heading[0].length)
      lineEnd = heading[0].trim().length === 1 ? styles.underline[1] + styles.bold[1] : styles.bold[1]
      return heading[0].trim().length === 1 ? styles.bold[0] + styles.underline[0] : styles.bold[0]
    }
    const quote = /^> ?/.exec(rest)
    if (quote !== null) {
      held = rest.slice(quote[0].length)
      return `${indent}${styled('│ ', 'dim')}`
    }
    const bullet = /^[*+-] +/.exec(rest)
    if (bullet !== null) {
      held = rest.slice(bullet[0].length)
      return `${indent}• `
    }
    return ''
  }

  return {
    push(text) {
      let written = ''
      const lines = text.replaceAll('\r', '').split('\n')
      for (const [index, line] of lines.entries()) {
        held += line
        const isLineOver = index < lines.length - 1
        written += render(isLineOver)
        if (!isLineOver) continue
        written += `${lineEnd}\n`
        ;[held, lineEnd, isLineStart] = ['', '', true]
      }
      return written
    },
    end() {
      const written = held === '' ? lineEnd : render(true) + lineEnd
      ;[held, lineEnd, isLineStart, fence] = ['', '', true, undefined]
      return written
    },
  }
}

/** The text that can be written, and the rest, which begins with a mark whose end has not come yet. */
function inline(text: string, isLineOver: boolean): readonly [string, string] {
  let written = ''
  let at = 0
  while (at < text.length) {
    const next = text.slice(at).search(/[`*_[\\]/)
    if (next < 0) return [written + text.slice(at), '']
    written += text.slice(at, at + next)
    at += next
    const span = spanAt(text, at)
    if (span !== undefined) {
      written += span.text
      at += span.length
    } else if (!isLineOver && mayBecomeSpan(text, at)) {
      return [written, text.slice(at)]
    } else {
      // All marks of a run together, or `**` would begin anew with its second star.
      const run = /^(?:`+|\*+|_+|.)/s.exec(text.slice(at))?.[0] ?? ''
      written += run
      at += run.length
    }
  }
  return [written, '']
}

interface Span {
  readonly text: string
  /** How many characters of the source it takes. */
  readonly length: number
}

function spanAt(text: string, at: number): Span | undefined {
  const rest = text.slice(at, at + maxHeldLength)
  const code = /^(`+)(?!`)(.*?[^`])\1(?!`)/.exec(rest)
  if (code !== null) return { text: styled(code[2] ?? '', 'code'), length: code[0].length }
  const escaped = /^\\([!-/:-@[-`{-~])/.exec(rest)
  if (escaped !== null) return { text: escaped[1] ?? '', length: 2 }
  const link = /^\[([^\]]+)\]\(([^()\s]+)\)/.exec(rest)
  if (link !== null) {
    const [whole, label = '', url = ''] = link
    return {
      text: label === url ? styled(url, 'underline') : `${inner(label)} (${styled(url, 'underline')})`,
      length: whole.length,
    }
  }
  // Within a word `_` is a character of a name: `snake_case`.
  if (rest.startsWith('_') && /\w/.test(text[at - 1] ?? '')) return undefined
  const strong = /^(\*\*|__)(?=\S)(.*?\S)\1(?!\1)/.exec(rest)
  if (strong !== null) return { text: styled(inner(strong[2] ?? ''), 'bold'), length: strong[0].length }
  const emphasis = /^([*_])(?=[^\s*_])(.*?[^\s*_])\1(?![*_\w])/.exec(rest)
  if (emphasis !== null) return { text: styled(inner(emphasis[2] ?? ''), 'italic'), length: emphasis[0].length }
  return undefined
}

const inner = (text: string): string => inline(text, true)[0]

/** Whether text that follows could end a span that begins here. */
function mayBecomeSpan(text: string, at: number): boolean {
  const rest = text.slice(at)
  if (rest.length > maxHeldLength) return false
  if (rest === '\\' || rest.startsWith('`')) return true
  if (rest.startsWith('[')) return /^\[[^\]]*(?:\](?:\([^()\s]*)?)?$/.test(rest)
  if (rest.startsWith('_') && /\w/.test(text[at - 1] ?? '')) return false
  return /^(?:\*{1,3}|_{1,3})(?:$|[^\s*_])/.test(rest)
}
