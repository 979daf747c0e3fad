/**
 * Compares what a store holds of a task with the fold of its log: the row, the snapshot, the order of the records. Pure, and independent
 * of any store: the caller reads the rows and passes them, one append after the other, so that a long log needs no more memory than
 * its fold.
 */
import { isVisible, type LogRecord } from '../../model/record.ts'
import type { Artifact, Part, Struct, Task, TaskStatus } from '../../model/task.ts'
import { emptyFold, foldRecord, snapshotOf, type TaskFold } from './fold.ts'

/** The stored row of a task. */
export interface CheckedTaskRow {
  readonly id: string
  readonly contextId: string
  readonly status: TaskStatus
  readonly metadata?: Struct
  readonly head: number
  readonly consumedSeq: number
  readonly visibleSeq: number
  readonly lastAt: number
  /** The log was removed by retention; a snapshot has the task. */
  readonly isLogDropped: boolean
}

/** One stored append. */
export interface CheckedBatch {
  /** In the feed of the store. */
  readonly position: number
  readonly firstSeq: number
  readonly lastSeq: number
  readonly records: readonly Omit<LogRecord, 'seq'>[]
}

/** A stored snapshot. */
export interface CheckedSnapshot {
  readonly seq: number
  readonly task: Task
  readonly internal: Struct
}

/** A contradiction between the parts of a task. */
export interface TaskProblem {
  readonly kind: 'log' | 'snapshot' | 'row' | 'feed'
  readonly table: 'tasks' | 'log' | 'snapshots'
  readonly seq?: number
  readonly message: string
}

/** Checks one task: first its log, in order, then its snapshot, then `finish`. */
export interface TaskCheck {
  batch(batch: CheckedBatch): void
  snapshot(snapshot: CheckedSnapshot): void
  finish(): void
}

/**
 * Compares the parts of a stored task, for tools that check a store: `report` receives each contradiction. `snapshotSeq` is the seq of
 * the snapshot that follows the log, if there is one.
 */
export function createTaskCheck(
  row: CheckedTaskRow,
  snapshotSeq: number | undefined,
  report: (problem: TaskProblem) => void,
): TaskCheck {
  const fold = emptyFold(row.id, row.contextId, row.status, row.metadata)
  let head = 0
  let position = 0
  let visibleSeq = 0
  let lastAt = 0
  let hasGap = false
  let atSnapshot: ReturnType<typeof snapshotOf> | undefined
  let snapshotSeen: CheckedSnapshot | undefined

  const wrong = (kind: TaskProblem['kind'], table: TaskProblem['table'], message: string, seq?: number): void =>
    report({ kind, table, message, ...(seq === undefined ? {} : { seq }) })

  function foldOne(record: LogRecord): void {
    if (record.at < lastAt) wrong('log', 'log', 'The record is earlier than the one before it', record.seq)
    lastAt = Math.max(lastAt, record.at)
    if (isVisible(record.body)) visibleSeq = record.seq
    foldRecord(fold, record)
    if (record.seq === snapshotSeq) atSnapshot = snapshotOf(fold)
  }

  return {
    batch({ position: next, firstSeq, lastSeq, records }) {
      if (firstSeq !== head + 1) {
        hasGap = true
        wrong('log', 'log', `The log continues with ${firstSeq} after ${head}`, firstSeq)
      }
      if (next <= position) wrong('feed', 'log', `The append has position ${next} after ${position}`, firstSeq)
      if (lastSeq - firstSeq + 1 !== records.length) {
        hasGap = true
        wrong('log', 'log', `The append has ${records.length} records for the seqs ${firstSeq} to ${lastSeq}`, firstSeq)
      }
      records.forEach(({ at, body }, index) => {
        try {
          foldOne({ seq: firstSeq + index, at, body })
        } catch {
          hasGap = true
          wrong('log', 'log', 'The record cannot be read', firstSeq + index)
        }
      })
      head = Math.max(head, lastSeq)
      position = Math.max(position, next)
    },
    snapshot(snapshot) {
      snapshotSeen = snapshot
      const { seq } = snapshot
      if (seq > row.head)
        wrong('snapshot', 'snapshots', `The snapshot is ahead of the log, which ends at ${row.head}`, seq)
      if (snapshot.task.id !== row.id) wrong('snapshot', 'snapshots', 'The snapshot has the id of another task', seq)
      if (atSnapshot === undefined || hasGap) return
      const differing = snapshotDifferences(snapshot, atSnapshot)
      if (differing.length > 0)
        wrong('snapshot', 'snapshots', `The snapshot is not the fold of the log: ${differing.join(', ')} differ`, seq)
    },
    finish() {
      if (row.isLogDropped) checkDropped()
      else checkFolded()
    },
  }

  /** Without a log, the snapshot is all that is left. */
  function checkDropped(): void {
    if (head > 0) wrong('log', 'log', 'The log was removed by retention, and has rows', head)
    if (snapshotSeen === undefined)
      wrong('snapshot', 'snapshots', 'The log was removed by retention, and no snapshot has the task')
    else if (snapshotSeen.seq < row.head)
      wrong(
        'snapshot',
        'snapshots',
        `The snapshot ends before ${row.head}, and the log was removed by retention`,
        snapshotSeen.seq,
      )
    else if (!isSameJson(snapshotSeen.task.status, row.status))
      wrong('row', 'tasks', 'The status differs from that of the snapshot', row.head)
  }

  function checkFolded(): void {
    if (head !== row.head) wrong('log', 'log', `The log ends at ${head}; the row of the task says ${row.head}`, head)
    // What follows would repeat that a part of the log is missing.
    if (hasGap || head !== row.head) return
    checkRow(row, fold, { visibleSeq, lastAt }, (message) => wrong('row', 'tasks', message, head))
  }
}

function checkRow(
  row: CheckedTaskRow,
  fold: TaskFold,
  { visibleSeq, lastAt }: { readonly visibleSeq: number; readonly lastAt: number },
  wrong: (message: string) => void,
): void {
  if (fold.statusSeq > 0 && !isSameJson(fold.status, row.status))
    wrong(`The status differs from the log, whose last status is ${fold.status.state}`)
  if (fold.consumedSeq !== row.consumedSeq)
    wrong(`The row says that messages up to ${row.consumedSeq} are consumed; the log says ${fold.consumedSeq}`)
  if (visibleSeq !== row.visibleSeq)
    wrong(`The row says that the last visible record is ${row.visibleSeq}; the log says ${visibleSeq}`)
  if (row.lastAt < lastAt) wrong('The row has an earlier time than the last record')
}

/**
 * The parts of a snapshot that do not follow from the log. Left out is what depends on settings of the agent, which may have changed
 * since (transitions, whether text is joined), on how a version measures (bytes), and on times and bytes that a store keeps elsewhere.
 */
function snapshotDifferences(stored: CheckedSnapshot, folded: CheckedSnapshot): readonly string[] {
  const differing: string[] = []
  const [one, other] = [comparableTask(stored.task), comparableTask(folded.task)]
  for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
    if (!isSameJson(one[key], other[key])) differing.push(key)
  }
  const [inner, expected] = [comparableInternals(stored.internal), comparableInternals(folded.internal)]
  // A field that an earlier version did not have is no difference.
  for (const key of Object.keys(inner)) if (!isSameJson(inner[key], expected[key])) differing.push(key)
  return differing
}

function comparableTask(task: Task): Record<string, unknown> {
  return { ...task, artifacts: task.artifacts?.map(withJoinedText) }
}

function withJoinedText(artifact: Artifact): Artifact {
  const parts: Part[] = []
  for (const part of artifact.parts) {
    const last = parts.at(-1)
    if (last !== undefined && isOnlyText(last) && isOnlyText(part))
      parts[parts.length - 1] = { text: last.text + part.text }
    else parts.push(part)
  }
  return { ...artifact, parts }
}

function isOnlyText(part: Part): part is { readonly text: string } {
  return 'text' in part && Object.keys(part).length === 1
}

const comparedInternals = [
  'statusSeq',
  'consumedSeq',
  'turn',
  'attempt',
  'running',
  'checkpoint',
  'remembered',
  'stored',
  'cancelRequested',
  'deadlineAt',
  'provenance',
  'isArchived',
  'sealed',
]

function comparableInternals(internal: Struct): Record<string, unknown> {
  const compared: Record<string, unknown> = {}
  for (const key of comparedInternals) if (key in internal) compared[key] = internal[key]
  const { waiting, questions } = internal as { waiting?: { seq: number }[]; questions?: { id: string }[] }
  if (waiting !== undefined) compared['waiting'] = waiting.map(({ seq }) => seq)
  if (questions !== undefined) compared['questions'] = questions.map(({ id }) => id)
  return compared
}

/** As JSON: an undefined member is the same as none, and the order of members does not matter. */
function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const [a, b] = [one as Record<string, unknown>, other as Record<string, unknown>]
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) if (!isSameJson(a[key], b[key])) return false
  return true
}
