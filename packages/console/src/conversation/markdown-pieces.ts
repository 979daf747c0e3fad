/**
 * Where a growing Markdown text can be cut, so that what has been said is not rendered again with every word: at blank lines
 * outside of code, before something that begins anew. A piece that is cut off never changes.
 */

const usual = 2_000

export interface Pieces {
  readonly whole: readonly string[]
  /** What may still change. */
  readonly rest: string
}

export const noPieces: Pieces = { whole: [], rest: '' }

/** Goes on from what was cut before, of which this is the text or a longer one. */
export function cut(text: string, before: Pieces = noPieces): Pieces {
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
  if (text.length < usual) return undefined
  let fence = ''
  let at = 0
  let wasBlank = false
  while (at < text.length) {
    const end = text.indexOf('\n', at)
    if (end < 0) return undefined
    const line = text.slice(at, end)
    if (fence === '' && wasBlank && at >= usual && beginsAnew(line)) return at
    const mark = /^ {0,3}(```+|~~~+)/.exec(line)?.[1] ?? ''
    if (fence === '') fence = mark
    else if (mark !== '' && mark.startsWith(fence) && line.trim() === mark) fence = ''
    wasBlank = line.trim() === ''
    at = end + 1
  }
  return undefined
}

/** Not what may belong to a list or a quotation above. */
function beginsAnew(line: string): boolean {
  return /^[^\s\-*+>\d|]/.test(line)
}
