/** Aligns two texts: equal lines side by side, and changed words marked within differing lines. */

export interface DiffSegment {
  readonly text: string
  readonly isMarked: boolean
}
/** A line of either side; `undefined` where only the other side has one. */
export interface DiffRow {
  readonly left?: readonly DiffSegment[]
  readonly right?: readonly DiffSegment[]
  readonly isSame: boolean
}

/** Above this many comparisons, everything between the first and the last difference counts as changed. */
const maxTableCells = 4_000_000

export function diffTexts(left: string, right: string): readonly DiffRow[] {
  const rows: DiffRow[] = []
  let removed: string[] = []
  let added: string[] = []
  function flush(): void {
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1) {
      rows.push(changedRow(removed[index], added[index]))
    }
    removed = []
    added = []
  }
  for (const step of diffLists(linesOf(left), linesOf(right))) {
    if (step.side === 'left') removed.push(step.value)
    else if (step.side === 'right') added.push(step.value)
    else {
      flush()
      const same = [{ text: step.value, isMarked: false }]
      rows.push({ left: same, right: same, isSame: true })
    }
  }
  flush()
  return rows
}

function linesOf(text: string): readonly string[] {
  // A trailing newline does not start another line.
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}

function changedRow(left: string | undefined, right: string | undefined): DiffRow {
  if (left === undefined || right === undefined) {
    return {
      ...(left === undefined ? {} : { left: [{ text: left, isMarked: true }] }),
      ...(right === undefined ? {} : { right: [{ text: right, isMarked: true }] }),
      isSame: false,
    }
  }
  const steps = diffLists(splitWords(left), splitWords(right))
  return { left: segmentsOfSide(steps, 'left'), right: segmentsOfSide(steps, 'right'), isSame: false }
}

function splitWords(line: string): readonly string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? []
}

function segmentsOfSide(steps: readonly DiffStep[], side: 'left' | 'right'): readonly DiffSegment[] {
  const pieces: DiffSegment[] = []
  for (const step of steps) {
    if (step.side !== 'both' && step.side !== side) continue
    const isMarked = step.side === side
    const last = pieces.at(-1)
    if (last?.isMarked === isMarked) pieces[pieces.length - 1] = { text: last.text + step.value, isMarked }
    else pieces.push({ text: step.value, isMarked })
  }
  return pieces
}

interface DiffStep {
  readonly side: 'left' | 'right' | 'both'
  readonly value: string
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
  const both = (value: string): DiffStep => ({ side: 'both', value })
  return [
    ...left.slice(0, start).map(both),
    ...middleSteps(left.slice(start, left.length - end), right.slice(start, right.length - end)),
    ...left.slice(left.length - end).map(both),
  ]
}

function middleSteps(left: readonly string[], right: readonly string[]): readonly DiffStep[] {
  const width = right.length + 1
  if (left.length * right.length > maxTableCells || left.length === 0 || right.length === 0) {
    return [
      ...left.map((value): DiffStep => ({ side: 'left', value })),
      ...right.map((value): DiffStep => ({ side: 'right', value })),
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
      steps.push({ side: 'both', value: one })
      row += 1
      column += 1
    } else if (one !== undefined && (other === undefined || at(row + 1, column) >= at(row, column + 1))) {
      steps.push({ side: 'left', value: one })
      row += 1
    } else if (other !== undefined) {
      steps.push({ side: 'right', value: other })
      column += 1
    }
  }
  return steps
}
