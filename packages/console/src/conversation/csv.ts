/** Rows of a CSV (RFC 4180), also with semicolons or tabs between them, as what a table is made of. */
import type { Struct } from '@parley/a2a'
import { mostColumns } from './part-kind.ts'

/** Cells stay as they were written: 007 and 12.50 are no numbers to count with. Nothing if it is no table: one column, too many of them, or rows that are longer than the names above them. */
export function rowsOfCsv(text: string): readonly Struct[] | undefined {
  const [head, ...lines] = linesOf(text, separatorOf(text))
  if (head === undefined || lines.length === 0 || head.length < 2 || head.length > mostColumns) return undefined
  if (lines.some((line) => line.length > head.length)) return undefined
  const names = distinct(head)
  return lines.map((line) => Object.fromEntries(names.map((name, at) => [name, line[at] ?? ''])))
}

/** The one that the first line has most of. */
function separatorOf(text: string): string {
  const [head = ''] = text.split(/\r?\n/, 1)
  const times = (one: string): number => head.split(one).length
  return [',', ';', '\t'].reduce((best, one) => (times(one) > times(best) ? one : best))
}

function linesOf(text: string, separator: string): readonly (readonly string[])[] {
  const lines: string[][] = []
  let line: string[] = []
  let cell = ''
  let isQuoted = false
  const endLine = (): void => {
    line.push(cell)
    if (line.length > 1 || cell !== '') lines.push(line)
    line = []
    cell = ''
  }
  for (let at = text.startsWith('\uFEFF') ? 1 : 0; at < text.length; at += 1) {
    const letter = text[at] as string
    if (isQuoted) {
      if (letter !== '"') cell += letter
      else if (text[at + 1] === '"') cell += text[(at += 1)]
      else isQuoted = false
    } else if (letter === '"' && cell === '') isQuoted = true
    else if (letter === separator) {
      line.push(cell)
      cell = ''
    } else if (letter === '\n') endLine()
    else if (letter !== '\r') cell += letter
  }
  endLine()
  return lines
}

/** Each column has a name of its own, as each member of an object must. */
function distinct(head: readonly string[]): readonly string[] {
  const names: string[] = []
  for (const [index, cell] of head.entries()) {
    const name = cell.trim() === '' ? `column ${index + 1}` : cell.trim()
    names.push(names.includes(name) ? `${name} (${index + 1})` : name)
  }
  return names
}
