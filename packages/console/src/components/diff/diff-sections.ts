/** Arranges a diff as rows to show: in one column or two, with unchanged parts collapsed. Pure. */
import type { DiffLine } from './diff.ts'

export type DiffSection =
  | { readonly kind: 'lines'; readonly lines: readonly DiffLine[] }
  /** Unchanged lines far from any change. */
  | { readonly kind: 'same'; readonly lines: readonly DiffLine[] }

export interface SideBySideRow {
  readonly left?: DiffLine
  readonly right?: DiffLine
}
/** Unchanged lines shown around each change. */
const contextLines = 3
/** Shorter runs are not collapsed. */
const minFoldedLines = 4

export function diffSections(diff: readonly DiffLine[]): readonly DiffSection[] {
  const isNear = linesNearChanges(diff)
  const pieces: { kind: DiffSection['kind']; lines: DiffLine[] }[] = []
  diff.forEach((line, index) => {
    const kind = isNear[index] === true ? 'lines' : 'same'
    const last = pieces.at(-1)
    if (last?.kind === kind) last.lines.push(line)
    else pieces.push({ kind, lines: [line] })
  })
  return mergeSections(
    pieces.map(({ kind, lines }) => ({ kind: lines.length < minFoldedLines ? 'lines' : kind, lines })),
  )
}

function linesNearChanges(diff: readonly DiffLine[]): readonly boolean[] {
  const near = Array.from({ length: diff.length }, () => false)
  diff.forEach(({ change }, index) => {
    if (change === 'same') return
    const [from, to] = [Math.max(0, index - contextLines), Math.min(diff.length - 1, index + contextLines)]
    for (let at = from; at <= to; at += 1) near[at] = true
  })
  return near
}

function mergeSections(pieces: readonly DiffSection[]): readonly DiffSection[] {
  const all: DiffSection[] = []
  for (const piece of pieces) {
    const last = all.at(-1)
    if (last?.kind === piece.kind) all[all.length - 1] = { kind: piece.kind, lines: [...last.lines, ...piece.lines] }
    else all.push(piece)
  }
  return all
}

/** Removed lines on the left, added lines on the right, paired as far as both go. */
export function sideBySide(lines: readonly DiffLine[]): readonly SideBySideRow[] {
  const rows: SideBySideRow[] = []
  let [gone, come]: [DiffLine[], DiffLine[]] = [[], []]
  const flush = (): void => {
    for (let at = 0; at < Math.max(gone.length, come.length); at += 1) {
      const [left, right] = [gone[at], come[at]]
      rows.push({ ...(left === undefined ? {} : { left }), ...(right === undefined ? {} : { right }) })
    }
    gone = []
    come = []
  }
  for (const line of lines) {
    if (line.change === 'removed') gone.push(line)
    else if (line.change === 'added') come.push(line)
    else {
      flush()
      rows.push({ left: line, right: line })
    }
  }
  flush()
  return rows
}

/** The part of a line that differs from another: between the common prefix and the common suffix. */
export function changedPart(text: string, other: string): { readonly from: number; readonly to: number } {
  const most = Math.min(text.length, other.length)
  let from = 0
  while (from < most && text[from] === other[from]) from += 1
  let end = 0
  while (end < most - from && text.at(-1 - end) === other.at(-1 - end)) end += 1
  return { from, to: text.length - end }
}
