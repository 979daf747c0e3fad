/** Parses CSV (RFC 4180), also with semicolons or tabs, into table rows. */
import type { Struct } from '@parley/a2a'
import { maxTableColumns } from '../components/content/json-table.ts'

/**
 * Cells stay text as written: 007 and 12.50 are not numbers. Returns `undefined` if the text is not a table: one column, too many
 * columns, or rows longer than the header.
 */
export function parseCsv(text: string): readonly Struct[] | undefined {
  const [head, ...lines] = linesOf(text, separatorOf(text))
  if (head === undefined || lines.length === 0 || head.length < 2 || head.length > maxTableColumns) return undefined
  if (lines.some((line) => line.length > head.length)) return undefined
  const names = uniqueNames(head)
  return lines.map((line) => Object.fromEntries(names.map((name, at) => [name, line[at] ?? ''])))
}

/** The candidate that is most frequent in the first line. */
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

/** Makes column names unique, because they become object keys. */
function uniqueNames(head: readonly string[]): readonly string[] {
  const names: string[] = []
  for (const [index, cell] of head.entries()) {
    const name = cell.trim() === '' ? `column ${index + 1}` : cell.trim()
    names.push(names.includes(name) ? `${name} (${index + 1})` : name)
  }
  return names
}
