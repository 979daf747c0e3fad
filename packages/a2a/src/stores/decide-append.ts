/**
 * Decides the outcome of an append: the one place for compare-and-append, fences and leases, so that every store returns the same
 * result. Pure: a store reads the state of the task, calls this, and writes the decision within one transaction.
 */
import { isVisible } from '../model/record.ts'
import { isTerminal, type TaskState } from '../model/state.ts'
import type { Append, AppendResult, DueTime, NewTask } from './store.ts'

export interface Lease {
  readonly holder: string
  /** Milliseconds; `Infinity` for a lease that ends only when it is released or its process ends. */
  readonly until: number
  readonly fence: number
}

/** The state of a task that the decision needs. */
export interface AppendState {
  readonly head: number
  readonly consumedSeq: number
  /** The seq of the last visible record: a push cursor below it is behind. */
  readonly visibleSeq: number
  readonly state: TaskState
  /** Kept until it is released, also after it expired: this identifies an orphan. */
  readonly lease: Lease | undefined
  readonly due: DueTime | undefined
  /** The time of the last record, in milliseconds; 0 before the first. */
  readonly lastAt: number
}

export type AppendDecision =
  | {
      readonly outcome: 'appended'
      readonly next: AppendState
      /** The records to write: those of the append, or copies with ordered times. */
      readonly records: Append['records']
      readonly answer: AppendResult
    }
  | Exclude<AppendResult, { outcome: 'appended' | 'duplicate' }>

export function isLeaseActive(lease: Lease | undefined, now: number): lease is Lease {
  return lease !== undefined && lease.until > now
}

/** `standing` is `undefined` for a task that does not exist. `newFence` returns ever greater numbers. */
export function decideAppend(
  standing: AppendState | undefined,
  append: Append,
  now: number,
  newFence: () => number,
): AppendDecision {
  const before = standing ?? initialStateFor(append)
  if (before === undefined || (standing !== undefined && append.create !== undefined)) {
    return { outcome: 'conflict', head: standing?.head ?? 0 }
  }
  const live = isLeaseActive(before.lease, now) ? before.lease : undefined
  if (append.fence !== undefined && append.fence !== live?.fence) return { outcome: 'fenced' }
  const isOthers = live !== undefined && live.holder !== append.take?.holder
  // A status carries its own time, which its author chose from the log as it knew it.
  const isTimeless = append.orLater === true && append.change?.status === undefined
  const mayBeLater = isTimeless && isOthers && !isTerminal(before.state)
  const isLater = mayBeLater && append.expectedSeq < before.head
  if (append.expectedSeq !== before.head && !isLater) return { outcome: 'conflict', head: before.head }
  if (append.take !== undefined && isOthers && !mayBeLater) return { outcome: 'held' }
  const takes = append.take !== undefined && !isOthers
  const records = withOrderedTimes(append.records, before.lastAt)
  const lastAt = records.at(-1)?.at ?? before.lastAt
  const next = { ...stateAfter(before, append, now, takes ? newFence : undefined), lastAt }
  const isOwn = takes || append.fence !== undefined
  const fence = isOwn ? next.lease?.fence : undefined
  const answer: AppendResult = { outcome: 'appended', head: next.head, ...(fence === undefined ? {} : { fence }) }
  return { outcome: 'appended', next, records, answer }
}

/**
 * The records as they are written after a record of `lastAt`: an earlier time becomes the time of the record before. The clocks of
 * replicas differ, and an append at any position was decided before the records that now precede it. Returns the same array if
 * nothing changes.
 */
export function withOrderedTimes(records: Append['records'], lastAt: number): Append['records'] {
  let at = lastAt
  let isInOrder = true
  for (const record of records) {
    if (record.at < at) isInOrder = false
    else at = record.at
  }
  if (isInOrder) return records
  at = lastAt
  return records.map((record) => {
    at = Math.max(at, record.at)
    return record.at === at ? record : { at, body: record.body }
  })
}

function initialStateFor({ create, expectedSeq }: Append): AppendState | undefined {
  if (create === undefined || expectedSeq !== 0) return undefined
  return { ...newAppendState(create), due: create.due }
}

function newAppendState({ status, consumedSeq = 0 }: NewTask): AppendState {
  return { head: 0, consumedSeq, visibleSeq: 0, state: status.state, lease: undefined, due: undefined, lastAt: 0 }
}

/** Without `newFence` no lease is taken. */
function stateAfter(
  before: AppendState,
  append: Append,
  now: number,
  newFence: (() => number) | undefined,
): Omit<AppendState, 'lastAt'> {
  const { change, records } = append
  const state = change?.status?.state ?? before.state
  return {
    head: before.head + records.length,
    consumedSeq: change?.consumedSeq ?? before.consumedSeq,
    visibleSeq: lastVisible(append, before.head) ?? before.visibleSeq,
    state,
    lease: leaseAfter(before.lease, append, now, newFence),
    due: isTerminal(state) ? undefined : change?.due === undefined ? before.due : (change.due ?? undefined),
  }
}

function leaseAfter(
  before: Lease | undefined,
  { take, release }: Append,
  now: number,
  newFence: (() => number) | undefined,
): Lease | undefined {
  if (release) return undefined
  if (take === undefined || newFence === undefined) return before
  return { holder: take.holder, until: now + take.ttlMs, fence: newFence() }
}

function lastVisible({ records }: Append, head: number): number | undefined {
  for (let index = records.length - 1; index >= 0; index -= 1) {
    const record = records[index]
    if (record !== undefined && isVisible(record.body)) return head + index + 1
  }
  return undefined
}
