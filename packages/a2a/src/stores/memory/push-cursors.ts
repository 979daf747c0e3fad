/** Push cursors in memory: which are due, their claims, and which stay due because of newer records. */
import { keptAttempts } from '../push-store.ts'
import type { ClaimedPush, PushAttempt, PushChange, PushRow } from '../store.ts'
import type { TaskEntry, PushEntry, MemoryTable } from './table.ts'

export function hasActivePush(entry: TaskEntry): boolean {
  for (const { row } of entry.pushes.values()) if (row.state === 'active') return true
  return false
}

/** Visible records were appended: cursors that are neither due nor claimed become due. */
export function makePushesDue(entry: TaskEntry, at: number): void {
  for (const push of entry.pushes.values()) {
    if (push.row.state === 'active' && push.row.dueAt === undefined) push.row = { ...push.row, dueAt: at }
  }
}

export function savePush(table: MemoryTable, push: PushRow, fence: number, atOnce: number): void {
  const entry = table.get(push.taskId)
  if (entry === undefined) throw new Error(`Unknown task ${push.taskId}`)
  const isBehind = push.state === 'active' && push.dueAt === undefined && entry.visibleSeq > push.deliveredSeq
  const row = isBehind ? { ...push, dueAt: atOnce } : push
  const place = entry.pushes.get(push.id)?.place ?? fence
  entry.pushes.set(push.id, { row, fence, place, leasedUntil: undefined })
  if (row.state === 'active') table.pushed.add(entry)
}

export function claimPush(table: MemoryTable, now: number, until: number, limit: number, newFence: () => number) {
  const due: { readonly push: PushEntry; readonly at: number }[] = []
  for (const entry of table.pushed) {
    if (!hasActivePush(entry)) table.pushed.delete(entry)
    for (const push of entry.pushes.values()) {
      const { state, dueAt } = push.row
      if (state !== 'active' || dueAt === undefined || dueAt > now) continue
      if (push.leasedUntil === undefined || push.leasedUntil <= now) due.push({ push, at: dueAt })
    }
  }
  due.sort((a, b) => a.at - b.at)
  return due.slice(0, limit).map(({ push }): ClaimedPush => {
    push.leasedUntil = until
    push.fence = newFence()
    return { push: push.row, fence: push.fence }
  })
}

export function movePush(entry: TaskEntry, push: PushEntry, change: PushChange): void {
  const { dueAt: wasDueAt, ...row } = push.row
  const deliveredSeq = change.deliveredSeq ?? row.deliveredSeq
  const state = change.state ?? row.state
  const isBehind = entry.visibleSeq > deliveredSeq
  const dueAt = state !== 'active' ? undefined : (change.dueAt ?? (isBehind ? wasDueAt : undefined))
  const attempt = change.attempt ?? row.attempt
  push.row = { ...row, deliveredSeq, state, attempt, ...(dueAt === undefined ? {} : { dueAt }) }
  push.leasedUntil = undefined
}

export function recordAttempt(entry: TaskEntry, attempt: PushAttempt): void {
  entry.attempts.push(attempt)
  if (entry.attempts.length > keptAttempts) entry.attempts.splice(0, entry.attempts.length - keptAttempts)
}

export function attemptsOf(entry: TaskEntry, pushId: string, limit: number): readonly PushAttempt[] {
  return entry.attempts
    .filter((attempt) => attempt.pushId === pushId)
    .reverse()
    .slice(0, limit)
}
