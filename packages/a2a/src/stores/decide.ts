/**
 * What becomes of an append: the one place where compare-and-append, fences and
 * leases are decided, so that every store answers alike. Pure; a store reads where
 * the task stands, asks here, and writes what it is told within one transaction.
 */
import { isVisible } from '../model/record.ts'
import { isTerminal } from '../model/state.ts'
import type { TaskState } from '../model/state.ts'
import type { Append, Appended, DueTime, NewTask } from './store.ts'

export interface Lease {
  readonly holder: string
  /** Milliseconds; `Infinity` for a lease that only its end or the end of its process can end. */
  readonly until: number
  readonly fence: number
}

/** As much of a task as deciding takes. */
export interface Standing {
  readonly head: number
  readonly consumedSeq: number
  /** The seq of the last visible record: a push cursor below it is behind. */
  readonly visibleSeq: number
  readonly state: TaskState
  /** Kept until it is released, also after it ran out: that is how an orphan is known. */
  readonly lease: Lease | undefined
  readonly due: DueTime | undefined
  /** The time of the last record, in milliseconds; 0 before the first. */
  readonly lastAt: number
}

export type Decision =
  | {
      readonly outcome: 'appended'
      readonly next: Standing
      /** What to write: the append's own records, or copies of them whose times are in order. */
      readonly records: Append['records']
      readonly answer: Appended
    }
  | Exclude<Appended, { outcome: 'appended' | 'duplicate' }>

export function isLive(lease: Lease | undefined, now: number): lease is Lease {
  return lease !== undefined && lease.until > now
}

/** `standing` is `undefined` for a task that does not exist. `newFence` answers ever greater numbers. */
export function decide(standing: Standing | undefined, append: Append, now: number, newFence: () => number): Decision {
  const before = standing ?? beginning(append)
  if (before === undefined || (standing !== undefined && append.create !== undefined)) {
    return { outcome: 'conflict', head: standing?.head ?? 0 }
  }
  const live = isLive(before.lease, now) ? before.lease : undefined
  if (append.fence !== undefined && append.fence !== live?.fence) return { outcome: 'fenced' }
  const isOthers = live !== undefined && live.holder !== append.take?.holder
  // A status carries a time of its own, which was decided by the log as its author knew it.
  const isTimeless = append.orLater === true && append.change?.status === undefined
  const mayBeLater = isTimeless && isOthers && !isTerminal(before.state)
  const isLater = mayBeLater && append.expectedSeq < before.head
  if (append.expectedSeq !== before.head && !isLater) return { outcome: 'conflict', head: before.head }
  if (append.take !== undefined && isOthers && !mayBeLater) return { outcome: 'held' }
  const takes = append.take !== undefined && !isOthers
  const records = inOrder(append.records, before.lastAt)
  const lastAt = records.at(-1)?.at ?? before.lastAt
  const next = { ...after(before, append, now, takes ? newFence : undefined), lastAt }
  const isOwn = takes || append.fence !== undefined
  const fence = isOwn ? next.lease?.fence : undefined
  const answer: Appended = { outcome: 'appended', head: next.head, ...(fence === undefined ? {} : { fence }) }
  return { outcome: 'appended', next, records, answer }
}

/**
 * Records as they are written after one of `lastAt`: an earlier time becomes that of the record before. Clocks of replicas
 * differ, and what may stand anywhere was decided before the records that it now stands behind. The same array if nothing changes.
 */
export function inOrder(records: Append['records'], lastAt: number): Append['records'] {
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

function beginning({ create, expectedSeq }: Append): Standing | undefined {
  if (create === undefined || expectedSeq !== 0) return undefined
  return { ...newStanding(create), due: create.due }
}

function newStanding({ status, consumedSeq = 0 }: NewTask): Standing {
  return { head: 0, consumedSeq, visibleSeq: 0, state: status.state, lease: undefined, due: undefined, lastAt: 0 }
}

/** Without `newFence` no lease is taken. */
function after(
  before: Standing,
  append: Append,
  now: number,
  newFence: (() => number) | undefined,
): Omit<Standing, 'lastAt'> {
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
