/** Appending in memory: decided and done in one go, so nothing can come between. Its cost is that of the records alone. */
import { decide } from '../decide.ts'
import type { Standing } from '../decide.ts'
import type { Append, Appended, IdempotencyKey, NewTask, TaskChange, TaskRow } from '../store.ts'
import { makeDue } from './push.ts'
import type { Entry, Table } from './table.ts'

/** The messages that were claimed, with times on a scale without steps of the clock. */
export type Claims = Map<string, { readonly taskId: string; readonly hash: string; readonly expiresAt: number }>

export interface AppendParts {
  readonly table: Table
  readonly claims: Claims
  readonly now: () => number
  /** A time that was read just now, on the scale of push cursors and claims: without the steps of the clock. */
  readonly steady: (at: number) => number
  readonly newFence: () => number
}

export function appendTo(parts: AppendParts, taskId: string, append: Append): Appended {
  const { table, claims } = parts
  const now = parts.now()
  const steadyNow = append.idempotency === undefined ? now : parts.steady(now)
  const claimed = append.idempotency && claimOf(parts, append.idempotency.key, steadyNow)
  if (claimed !== undefined) return { outcome: 'duplicate', taskId: claimed.taskId, hash: claimed.hash }
  const entry = table.get(taskId)
  const decision = decide(entry && standingOf(entry), append, now, parts.newFence)
  if (decision.outcome !== 'appended') return decision
  const { next, records, answer } = decision
  if (entry === undefined) {
    const made = newEntry(append.create as NewTask, append.change, next)
    table.add(made)
    write(parts, made, records, next)
    claim(claims, made, append.idempotency, steadyNow)
  } else {
    table.replace(entry, changedRow(entry.row, append.change, next))
    write(parts, entry, records, next)
    claim(claims, entry, append.idempotency, steadyNow)
  }
  return answer
}

/** A claim ends with its time, or with its task. */
export function claimOf({ table, claims }: Pick<AppendParts, 'table' | 'claims'>, key: string, now: number) {
  const found = claims.get(key)
  return found !== undefined && found.expiresAt > now && table.get(found.taskId) !== undefined ? found : undefined
}

function claim(claims: Claims, entry: Entry, idempotency: IdempotencyKey | undefined, now: number): void {
  if (idempotency === undefined) return
  const { key, hash, ttlMs } = idempotency
  claims.set(key, { taskId: entry.row.id, hash, expiresAt: now + ttlMs })
  entry.keys.push(key)
}

function write({ table, now, steady }: AppendParts, entry: Entry, records: Append['records'], next: Standing): void {
  entry.lease = next.lease
  entry.lastAt = next.lastAt
  if (records.length === 0) return
  const before = next.head - records.length
  let seq = before
  for (const { at, body } of records) entry.log.push({ seq: (seq += 1), at, body })
  table.publish(entry, before + 1, seq)
  if (next.visibleSeq === entry.visibleSeq) return
  entry.visibleSeq = next.visibleSeq
  // A log never goes back in time: after a step back its records are later than now.
  if (entry.pushes.size > 0) makeDue(entry, steady(Math.min(records.at(-1)?.at ?? 0, now())))
}

function newEntry(create: NewTask, change: TaskChange | undefined, next: Standing): Entry {
  const { due: _, ...row } = create
  return {
    row: changedRow({ ...row, head: 0, consumedSeq: 0 }, change, next),
    visibleSeq: 0,
    lease: undefined,
    lastAt: 0,
    log: [],
    firstSeq: 1,
    snapshot: undefined,
    pushes: new Map(),
    attempts: [],
    published: 0,
    keys: [],
  }
}

function changedRow(before: TaskRow, change: TaskChange | undefined, next: Standing): TaskRow {
  const { due: _, ...row } = before
  return {
    ...row,
    status: change?.status ?? before.status,
    statusAt: change?.statusAt ?? before.statusAt,
    head: next.head,
    consumedSeq: next.consumedSeq,
    ...(next.due === undefined ? {} : { due: next.due }),
  }
}

function standingOf({ row, visibleSeq, lease, lastAt }: Entry): Standing {
  const { head, consumedSeq, status, due } = row
  return { head, consumedSeq, visibleSeq, state: status.state, lease, due, lastAt }
}
