/** A line diff of two texts. */

export interface DiffLine {
  readonly change: 'same' | 'added' | 'removed'
  readonly text: string
  /** Line numbers in the old and the new text, from 1. */
  readonly before?: number
  readonly after?: number
}

/** Larger differences are shown as a full replacement: the table grows with the square. */
const maxCells = 4_000_000

export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const [old, fresh] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start += 1
  let end = 0
  while (end < old.length - start && end < fresh.length - start && old.at(-1 - end) === fresh.at(-1 - end)) end += 1
  const middle = changesIn(old.slice(start, old.length - end), fresh.slice(start, fresh.length - end))
  const changes = [
    ...old.slice(0, start).map((text) => ({ change: 'same' as const, text })),
    ...middle,
    ...old.slice(old.length - end).map((text) => ({ change: 'same' as const, text })),
  ]
  return withLineNumbers(changes)
}

/** Uses the longest common subsequence of lines. */
function changesIn(old: readonly string[], fresh: readonly string[]): Pick<DiffLine, 'change' | 'text'>[] {
  const removed = (text: string): Pick<DiffLine, 'change' | 'text'> => ({ change: 'removed', text })
  const added = (text: string): Pick<DiffLine, 'change' | 'text'> => ({ change: 'added', text })
  if (old.length * fresh.length > maxCells) return [...old.map(removed), ...fresh.map(added)]
  const width = fresh.length + 1
  const common = new Uint32Array((old.length + 1) * width)
  const at = (row: number, column: number): number => common[row * width + column] as number
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = fresh.length - 1; column >= 0; column -= 1) {
      common[row * width + column] =
        old[row] === fresh[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1))
    }
  }
  const changes: Pick<DiffLine, 'change' | 'text'>[] = []
  let [row, column] = [0, 0]
  while (row < old.length && column < fresh.length) {
    if (old[row] === fresh[column]) {
      changes.push({ change: 'same', text: old[row] as string })
      row += 1
      column += 1
    } else if (at(row + 1, column) >= at(row, column + 1)) changes.push(removed(old[row++] as string))
    else changes.push(added(fresh[column++] as string))
  }
  return [...changes, ...old.slice(row).map(removed), ...fresh.slice(column).map(added)]
}

function withLineNumbers(changes: readonly Pick<DiffLine, 'change' | 'text'>[]): readonly DiffLine[] {
  let [before, after] = [0, 0]
  return changes.map(({ change, text }) => {
    if (change !== 'added') before += 1
    if (change !== 'removed') after += 1
    return {
      change,
      text,
      ...(change !== 'added' ? { before } : {}),
      ...(change !== 'removed' ? { after } : {}),
    }
  })
}

function linesOf(text: string): readonly string[] {
  const lines = text.split('\n')
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}
