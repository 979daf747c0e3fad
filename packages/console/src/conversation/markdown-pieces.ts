/**
 * Splits a growing Markdown text, so that earlier text is not rendered again with every chunk: at blank lines outside of code,
 * before a line that starts a new block. A completed piece never changes.
 */

const minPieceLength = 2_000

export interface MarkdownPieces {
  readonly whole: readonly string[]
  /** The part that may still change. */
  readonly rest: string
}

export const emptyMarkdownPieces: MarkdownPieces = { whole: [], rest: '' }

/** Continues from `before`, the pieces of this text or of a prefix of it. */
export function splitMarkdown(text: string, before: MarkdownPieces = emptyMarkdownPieces): MarkdownPieces {
  const known = before.whole.reduce((sum, piece) => sum + piece.length, 0)
  const isMore = text.length >= known && before.whole.every((piece, index) => index > 0 || text.startsWith(piece))
  const whole = isMore ? [...before.whole] : []
  let rest = isMore ? text.slice(known) : text
  for (let at = endOfPiece(rest); at !== undefined; at = endOfPiece(rest)) {
    whole.push(rest.slice(0, at))
    rest = rest.slice(at)
  }
  return { whole, rest }
}

function endOfPiece(text: string): number | undefined {
  if (text.length < minPieceLength) return undefined
  let fence = ''
  let at = 0
  let wasBlank = false
  while (at < text.length) {
    const end = text.indexOf('\n', at)
    if (end < 0) return undefined
    const line = text.slice(at, end)
    if (fence === '' && wasBlank && at >= minPieceLength && startsBlock(line)) return at
    const mark = /^ {0,3}(```+|~~~+)/.exec(line)?.[1] ?? ''
    if (fence === '') fence = mark
    else if (mark !== '' && mark.startsWith(fence) && line.trim() === mark) fence = ''
    wasBlank = line.trim() === ''
    at = end + 1
  }
  return undefined
}

/** False for lines that may belong to a list or quotation above. */
function startsBlock(line: string): boolean {
  return /^[^\s\-*+>\d|]/.test(line)
}
