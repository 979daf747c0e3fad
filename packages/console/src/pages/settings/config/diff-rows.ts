/** A comparison of two texts as it is shown: in one column or in two, with what did not change folded away. Pure. */
import type { AnswerOf } from '../../../api/call.ts'

export type DiffLine = AnswerOf<'diffConfig'>['diff'][number]

export type Piece =
  | { readonly kind: 'lines'; readonly lines: readonly DiffLine[] }
  /** Lines that both have, far from any that differ. */
  | { readonly kind: 'same'; readonly lines: readonly DiffLine[] }

export interface Row {
  readonly left?: DiffLine
  readonly right?: DiffLine
}

/** Lines that are shown around each change. */
const around = 3
/** What is folded away should be worth a press. */
const fewest = 4

export function piecesOf(diff: readonly DiffLine[]): readonly Piece[] {
  const isNear = nearChanges(diff)
  const pieces: { kind: Piece['kind']; lines: DiffLine[] }[] = []
  diff.forEach((line, index) => {
    const kind = isNear[index] === true ? 'lines' : 'same'
    const last = pieces.at(-1)
    if (last?.kind === kind) last.lines.push(line)
    else pieces.push({ kind, lines: [line] })
  })
  return merged(pieces.map(({ kind, lines }) => ({ kind: lines.length < fewest ? 'lines' : kind, lines })))
}

function nearChanges(diff: readonly DiffLine[]): readonly boolean[] {
  const near = Array.from({ length: diff.length }, () => false)
  diff.forEach(({ change }, index) => {
    if (change === 'same') return
    const [from, to] = [Math.max(0, index - around), Math.min(diff.length - 1, index + around)]
    for (let at = from; at <= to; at += 1) near[at] = true
  })
  return near
}

function merged(pieces: readonly Piece[]): readonly Piece[] {
  const all: Piece[] = []
  for (const piece of pieces) {
    const last = all.at(-1)
    if (last?.kind === piece.kind) all[all.length - 1] = { kind: piece.kind, lines: [...last.lines, ...piece.lines] }
    else all.push(piece)
  }
  return all
}

/** What went on the left, what came on the right, beside each other as far as they reach. */
export function sideBySide(lines: readonly DiffLine[]): readonly Row[] {
  const rows: Row[] = []
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

/** The part of a line in which it differs from another: between what both begin and end with. */
export function changedPart(text: string, other: string): { readonly from: number; readonly to: number } {
  const most = Math.min(text.length, other.length)
  let from = 0
  while (from < most && text[from] === other[from]) from += 1
  let end = 0
  while (end < most - from && text.at(-1 - end) === other.at(-1 - end)) end += 1
  return { from, to: text.length - end }
}

/** The same the other way round. */
export function inverted(diff: readonly DiffLine[]): readonly DiffLine[] {
  return diff.map(({ change, text, before, after }) => ({
    change: change === 'added' ? 'removed' : change === 'removed' ? 'added' : 'same',
    text,
    ...(after === undefined ? {} : { before: after }),
    ...(before === undefined ? {} : { after: before }),
  }))
}

export function countChanges(diff: readonly DiffLine[]): { readonly added: number; readonly removed: number } {
  return {
    added: diff.filter(({ change }) => change === 'added').length,
    removed: diff.filter(({ change }) => change === 'removed').length,
  }
}
