/** What a check of a store finds: where, and what is wrong. */
import { isTerminal, taskStates } from '../../model/state.ts'

/** The kind of a finding, so that a program can tell them apart. */
export type StoreFindingKind =
  /** A text is not the one that was written. */
  | 'checksum'
  /** A row belongs to a task, or to another row, that does not exist. */
  | 'orphan'
  /** A stored number differs from the number of rows. */
  | 'counter'
  /** An index, or a page of the database, is damaged. */
  | 'index'
  /** The log of a task has a gap, ends too early or cannot be read. */
  | 'log'
  /** A snapshot is not the fold of the log. */
  | 'snapshot'
  /** The row of a task contradicts its log. */
  | 'row'
  /** Bytes are missing or were changed. */
  | 'blob'
  /** A push notification config points outside the log, or waits for nothing. */
  | 'push'
  /** A message claim cannot be found again. */
  | 'claim'
  /** Positions of the feed are not in order. */
  | 'feed'
  /** A key-value entry cannot be read. */
  | 'key-value'
  /** A key of the keyring cannot be unwrapped. */
  | 'key'

/** One thing that is wrong in a store. */
export interface StoreFinding {
  readonly kind: StoreFindingKind
  readonly table: string
  /** The task that the damaged row belongs to, if it is known. */
  readonly taskId?: string
  /** The position in the log of the task, if there is one. */
  readonly seq?: number
  /** A sentence for the operator. */
  readonly message: string
}

/** Receives findings, in no order. */
export type ReportFinding = (finding: StoreFinding) => void

/** The most findings of one kind that a check reports: a damaged table may have millions. */
export const maxFindingsPerCheck = 1_000

/** A query whose rows are findings. */
export interface QueryCheck extends Pick<StoreFinding, 'kind' | 'table'> {
  readonly name: string
  /** Returns `task_id` and `message`. */
  readonly sql: string
}

/** The states of tasks in SQL: tables have their numbers. The numbers of terminal states, as a list. */
export const finishedStates = taskStates.flatMap((state, number) => (isTerminal(state) ? [number] : [])).join(', ')
/** The name of the state in the column `state`. */
export const stateName = `CASE state ${taskStates.map((name, number) => `WHEN ${number} THEN '${name}'`).join(' ')} END`
