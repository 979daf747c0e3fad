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
}

export type Decision =
  | { readonly outcome: 'appended'; readonly next: Standing; readonly answer: Appended }
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
  const mayBeLater = append.orLater === true && isOthers && !isTerminal(before.state)
  const isLater = mayBeLater && append.expectedSeq < before.head
  if (append.expectedSeq !== before.head && !isLater) return { outcome: 'conflict', head: before.head }
  if (append.take !== undefined && isOthers && !mayBeLater) return { outcome: 'held' }
  const takes = append.take !== undefined && !isOthers
  const next = after(before, append, now, takes ? newFence : undefined)
  const isOwn = takes || append.fence !== undefined
  const fence = isOwn ? next.lease?.fence : undefined
  const answer: Appended = { outcome: 'appended', head: next.head, ...(fence === undefined ? {} : { fence }) }
  return { outcome: 'appended', next, answer }
}

function beginning({ create, expectedSeq }: Append): Standing | undefined {
  if (create === undefined || expectedSeq !== 0) return undefined
  return { ...newStanding(create), due: create.due }
}

function newStanding({ status, consumedSeq = 0 }: NewTask): Standing {
  return { head: 0, consumedSeq, visibleSeq: 0, state: status.state, lease: undefined, due: undefined }
}

/** Without `newFence` no lease is taken. */
function after(before: Standing, append: Append, now: number, newFence: (() => number) | undefined): Standing {
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
