/** Places and changes in a text, as an editor needs them. Pure; what is done to the field is done elsewhere. */

/** What replaces a part of the text, and what is selected afterwards. */
export interface Edit {
  readonly from: number
  readonly to: number
  readonly insert: string
  readonly selectFrom: number
  readonly selectTo: number
}

export interface Spot {
  /** From 1. */
  readonly line: number
  readonly column: number
}

const step = '  '

export function countLines(text: string): number {
  let lines = 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1
  return lines
}

export function spotAt(text: string, offset: number): Spot {
  const before = text.slice(0, offset)
  return { line: countLines(before), column: offset - before.lastIndexOf('\n') }
}

/** Where a line begins and ends; the last one for those behind it. */
export function lineRange(text: string, line: number): { readonly from: number; readonly to: number } {
  let from = 0
  for (let at = 1; at < line; at += 1) {
    const end = text.indexOf('\n', from)
    if (end < 0) break
    from = end + 1
  }
  const end = text.indexOf('\n', from)
  return { from, to: end < 0 ? text.length : end }
}

/** Tab: to the next step, or all lines of the selection one step in. */
export function indent(text: string, from: number, to: number): Edit {
  if (!text.slice(from, to).includes('\n')) {
    const insert = ' '.repeat(step.length - ((spotAt(text, from).column - 1) % step.length))
    return { from, to, insert, selectFrom: from + insert.length, selectTo: from + insert.length }
  }
  return overLines(text, from, to, (line) => (line === '' ? line : step + line))
}

/** Shift-Tab: the lines one step out. */
export function outdent(text: string, from: number, to: number): Edit {
  return overLines(text, from, to, (line) => line.replace(/^ {1,2}|^\t/, ''))
}

/** Enter: as far in as the line before, and one step further below a key. */
export function newLine(text: string, from: number, to: number): Edit {
  const start = text.lastIndexOf('\n', from - 1) + 1
  const before = text.slice(start, from)
  const [spaces = ''] = /^ */.exec(before) ?? []
  const isOpened = /:\s*(#.*)?$/.test(before) && before.trim() !== ''
  const insert = `\n${spaces}${isOpened ? step : ''}`
  return { from, to, insert, selectFrom: from + insert.length, selectTo: from + insert.length }
}

/** Where it stands, in large or small letters; not more than are worth going through. */
export function findAll(text: string, wanted: string, most = 1_000): readonly number[] {
  if (wanted === '') return []
  const found: number[] = []
  const [all, word] = [text.toLowerCase(), wanted.toLowerCase()]
  for (let at = all.indexOf(word); at >= 0 && found.length < most; at = all.indexOf(word, at + word.length))
    found.push(at)
  return found
}

function overLines(text: string, from: number, to: number, change: (line: string) => string): Edit {
  const start = text.lastIndexOf('\n', from - 1) + 1
  // A selection that ends at the beginning of a line has nothing of it.
  const last = to > from && text[to - 1] === '\n' ? to - 1 : to
  const end = text.indexOf('\n', last)
  const stop = end < 0 ? text.length : end
  const lines = text.slice(start, stop).split('\n')
  const changed = lines.map(change)
  const insert = changed.join('\n')
  const moved = (changed[0]?.length ?? 0) - (lines[0]?.length ?? 0)
  const grown = insert.length - (stop - start)
  return {
    from: start,
    to: stop,
    insert,
    selectFrom: Math.max(start, from + moved),
    selectTo: Math.max(start, to + grown),
  }
}
