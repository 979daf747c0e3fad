/** Appends in memory: decided and written synchronously, so nothing can interleave. The cost depends on the records alone. */
import { decideAppend, type AppendState } from '../decide-append.ts'
import type { Append, AppendResult, IdempotencyKey, NewTask, TaskChange, TaskRow } from '../store.ts'
import { makePushesDue } from './push-cursors.ts'
import type { TaskEntry, MemoryTable } from './table.ts'

/** The claimed messages, in steady time. */
export type MessageClaimTable = Map<
  string,
  { readonly taskId: string; readonly hash: string; readonly expiresAt: number }
>

export interface MemoryAppendDeps {
  readonly table: MemoryTable
  readonly claims: MessageClaimTable
  readonly now: () => number
  /** Converts a time just read from the clock to steady time, which push cursors and claims use. */
  readonly steady: (at: number) => number
  readonly newFence: () => number
}

export function appendToMemory(deps: MemoryAppendDeps, taskId: string, append: Append): AppendResult {
  const { table, claims } = deps
  const now = deps.now()
  const steadyNow = append.idempotency === undefined ? now : deps.steady(now)
  const claimed = append.idempotency && findClaim(deps, append.idempotency.key, steadyNow)
  if (claimed !== undefined) return { outcome: 'duplicate', taskId: claimed.taskId, hash: claimed.hash }
  const entry = table.get(taskId)
  const decision = decideAppend(entry && appendStateOf(entry), append, now, deps.newFence)
  if (decision.outcome !== 'appended') return decision
  const { next, records, answer } = decision
  if (entry === undefined) {
    const made = newEntry(append.create as NewTask, append.change, next)
    table.add(made)
    write(deps, made, records, next)
    addClaim(claims, made, append.idempotency, steadyNow)
  } else {
    table.replace(entry, changedRow(entry.row, append.change, next))
    write(deps, entry, records, next)
    addClaim(claims, entry, append.idempotency, steadyNow)
  }
  return answer
}

/** A claim ends when it expires, or with its task. */
export function findClaim({ table, claims }: Pick<MemoryAppendDeps, 'table' | 'claims'>, key: string, now: number) {
  const found = claims.get(key)
  return found !== undefined && found.expiresAt > now && table.get(found.taskId) !== undefined ? found : undefined
}

function addClaim(
  claims: MessageClaimTable,
  entry: TaskEntry,
  idempotency: IdempotencyKey | undefined,
  now: number,
): void {
  if (idempotency === undefined) return
  const { key, hash, ttlMs } = idempotency
  claims.set(key, { taskId: entry.row.id, hash, expiresAt: now + ttlMs })
  entry.keys.push(key)
}

function write(
  { table, now, steady }: MemoryAppendDeps,
  entry: TaskEntry,
  records: Append['records'],
  next: AppendState,
): void {
  entry.lease = next.lease
  entry.lastAt = next.lastAt
  if (records.length === 0) return
  const before = next.head - records.length
  let seq = before
  for (const { at, body } of records) entry.log.push({ seq: (seq += 1), at, body })
  table.publish(entry, before + 1, seq)
  if (next.visibleSeq === entry.visibleSeq) return
  entry.visibleSeq = next.visibleSeq
  // Record times never decrease: after a step back of the clock they are later than now.
  if (entry.pushes.size > 0) makePushesDue(entry, steady(Math.min(records.at(-1)?.at ?? 0, now())))
}

function newEntry(create: NewTask, change: TaskChange | undefined, next: AppendState): TaskEntry {
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

function changedRow(before: TaskRow, change: TaskChange | undefined, next: AppendState): TaskRow {
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

function appendStateOf({ row, visibleSeq, lease, lastAt }: TaskEntry): AppendState {
  const { head, consumedSeq, status, due } = row
  return { head, consumedSeq, visibleSeq, state: status.state, lease, due, lastAt }
}
