/** Positions and edits in a text, for the editor. Pure; editor-field.ts applies them. */

/** A replacement, and the selection after it. */
export interface TextEdit {
  readonly from: number
  readonly to: number
  readonly insert: string
  readonly selectFrom: number
  readonly selectTo: number
}

export interface TextPosition {
  /** 1-based. */
  readonly line: number
  readonly column: number
}

const indentUnit = '  '

export function countLines(text: string): number {
  let lines = 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1
  return lines
}

export function positionAt(text: string, offset: number): TextPosition {
  const before = text.slice(0, offset)
  return { line: countLines(before), column: offset - before.lastIndexOf('\n') }
}

/** Start and end of a line; lines past the end give the last one. */
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

/** Tab: inserts up to the next step, or indents all lines of the selection. */
export function indent(text: string, from: number, to: number): TextEdit {
  if (!text.slice(from, to).includes('\n')) {
    const insert = ' '.repeat(indentUnit.length - ((positionAt(text, from).column - 1) % indentUnit.length))
    return { from, to, insert, selectFrom: from + insert.length, selectTo: from + insert.length }
  }
  return editLines(text, from, to, (line) => (line === '' ? line : indentUnit + line))
}

/** Shift-Tab: outdents the lines by one step. */
export function outdent(text: string, from: number, to: number): TextEdit {
  return editLines(text, from, to, (line) => line.replace(/^ {1,2}|^\t/, ''))
}

/** Enter: keeps the indentation of the line, and indents one step further after a key. */
export function newLine(text: string, from: number, to: number): TextEdit {
  const start = text.lastIndexOf('\n', from - 1) + 1
  const before = text.slice(start, from)
  const [spaces = ''] = /^ */.exec(before) ?? []
  const isOpened = /:\s*(#.*)?$/.test(before) && before.trim() !== ''
  const insert = `\n${spaces}${isOpened ? indentUnit : ''}`
  return { from, to, insert, selectFrom: from + insert.length, selectTo: from + insert.length }
}

/** Offsets of all matches, ignoring case, up to `most`. */
export function findAll(text: string, wanted: string, most = 1_000): readonly number[] {
  if (wanted === '') return []
  const found: number[] = []
  const [all, word] = [text.toLowerCase(), wanted.toLowerCase()]
  for (let at = all.indexOf(word); at >= 0 && found.length < most; at = all.indexOf(word, at + word.length))
    found.push(at)
  return found
}

function editLines(text: string, from: number, to: number, change: (line: string) => string): TextEdit {
  const start = text.lastIndexOf('\n', from - 1) + 1
  // A selection that ends at the start of a line does not include that line.
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
