/** Compares texts by lines, and lines by words. Pure. */
import type { AdminResponse } from '../../api/admin-client.ts'

export type DiffLine = AdminResponse<'diffConfig'>['diff'][number]

/** A part of a line. */
export interface DiffSegment {
  readonly text: string
  readonly isMarked: boolean
}

/** Above this many comparisons, everything between the first and the last difference counts as changed. */
const maxTableCells = 4_000_000

/** The same diff in the other direction. */
export function invertDiff(diff: readonly DiffLine[]): readonly DiffLine[] {
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

/** The lines of both texts, as the hub compares configurations. */
export function diffTexts(left: string, right: string): readonly DiffLine[] {
  let before = 0
  let after = 0
  return diffLists(linesOf(left), linesOf(right)).map(({ change, text }) => ({
    change,
    text,
    ...(change === 'added' ? {} : { before: (before += 1) }),
    ...(change === 'removed' ? {} : { after: (after += 1) }),
  }))
}

function linesOf(text: string): readonly string[] {
  // A trailing newline does not start another line.
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}

/** A line with the words marked that `other` does not have; all of it without `other`. */
export function markWords({ change, text }: DiffLine, other: DiffLine | undefined): readonly DiffSegment[] {
  if (change === 'same' || other === undefined) return [{ text, isMarked: change !== 'same' }]
  const segments: DiffSegment[] = []
  for (const step of diffLists(splitWords(other.text), splitWords(text))) {
    if (step.change === 'removed') continue
    const isMarked = step.change === 'added'
    const last = segments.at(-1)
    if (last?.isMarked === isMarked) segments[segments.length - 1] = { text: last.text + step.text, isMarked }
    else segments.push({ text: step.text, isMarked })
  }
  return segments
}

function splitWords(line: string): readonly string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? []
}

interface DiffStep {
  readonly change: DiffLine['change']
  readonly text: string
}

/** The shortest edit script between two lists, from their longest common subsequence. */
function diffLists(left: readonly string[], right: readonly string[]): readonly DiffStep[] {
  let start = 0
  while (start < left.length && start < right.length && left[start] === right[start]) start += 1
  let end = 0
  while (
    end < left.length - start &&
    end < right.length - start &&
    left[left.length - 1 - end] === right[right.length - 1 - end]
  ) {
    end += 1
  }
  const same = (text: string): DiffStep => ({ change: 'same', text })
  return [
    ...left.slice(0, start).map(same),
    ...middleSteps(left.slice(start, left.length - end), right.slice(start, right.length - end)),
    ...left.slice(left.length - end).map(same),
  ]
}

function middleSteps(left: readonly string[], right: readonly string[]): readonly DiffStep[] {
  const width = right.length + 1
  if (left.length * right.length > maxTableCells || left.length === 0 || right.length === 0) {
    return [
      ...left.map((text): DiffStep => ({ change: 'removed', text })),
      ...right.map((text): DiffStep => ({ change: 'added', text })),
    ]
  }
  // The length of the longest common subsequence of the suffixes.
  const common = new Uint32Array((left.length + 1) * width)
  const at = (row: number, column: number): number => common[row * width + column] ?? 0
  for (let row = left.length - 1; row >= 0; row -= 1) {
    for (let column = right.length - 1; column >= 0; column -= 1) {
      common[row * width + column] =
        left[row] === right[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1))
    }
  }
  const steps: DiffStep[] = []
  let row = 0
  let column = 0
  while (row < left.length || column < right.length) {
    const one = left[row]
    const other = right[column]
    if (one !== undefined && one === other) {
      steps.push({ change: 'same', text: one })
      row += 1
      column += 1
    } else if (one !== undefined && (other === undefined || at(row + 1, column) >= at(row, column + 1))) {
      steps.push({ change: 'removed', text: one })
      row += 1
    } else if (other !== undefined) {
      steps.push({ change: 'added', text: other })
      column += 1
    }
  }
  return steps
}
