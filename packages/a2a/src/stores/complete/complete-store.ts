/**
 * Completes a log store: derives every facet of a `Store` that it leaves out. Leases, due times and deliveries are those of one
 * process, so they are decided in memory, and stored with the row for the process that comes after it.
 */
import { type Clock, clockOf, type ClockOptions, createStepCorrection } from '../../model/clock.ts'
import { recordBytes, recordsBytes } from '../../model/json-nodes.ts'
import type { LogRecord } from '../../model/record.ts'
import { isTerminal } from '../../model/state.ts'
import { createChangeWaiters } from '../change-waiters.ts'
import { decideAppend } from '../decide-append.ts'
import type { LogStore } from '../log-store.ts'
import { createMemoryKeyValue } from '../memory/key-value.ts'
import type { Store } from '../store.ts'
import {
  type Append,
  type AppendResult,
  dueAgainMs,
  type DueTime,
  type LeasedTask,
  type NewTask,
  type TaskRow,
  type TaskStore,
} from '../task-store.ts'
import { decodeText, encodeText } from '../text-encoding.ts'
import { wrapMethods } from '../../model/wrap-methods.ts'
import { createKeyRows } from './key-rows.ts'
import { createPrune } from './prune.ts'
import { createPushCursors, wakePushes } from './push-cursors.ts'
import { createSearches, oldestFirst } from './searches.ts'
import { appendStateOf, changedRow, newTaskState, type StoredClaim, storedLease, type TaskState } from './task-state.ts'
import { createTaskTable, type TaskEntry, type TaskUpdate } from './task-table.ts'

export interface CompleteStoreOptions extends ClockOptions {
  /** Default `Infinity`: the store serves one engine. */
  readonly leaseTtlMs?: number
}

const completed = new WeakMap<LogStore, Store>()

/** A store that is complete is returned as it is. A log store is completed once, however often it is passed. */
export function completeStore(store: Store | LogStore): Store {
  if ('tasks' in store) return store
  const known = completed.get(store)
  if (known !== undefined) return known
  const { store: made } = completeLogStore(store)
  completed.set(store, made)
  return made
}

/** What is off with a store, in the words of the log; `undefined` if nothing is. */
export function missingFeatures(store: Store | LogStore): string | undefined {
  const isComplete = 'tasks' in store
  const off = [
    ...(isComplete ? [] : ['several processes']),
    ...(isComplete || store.remove !== undefined ? [] : ['retention (finished tasks are kept)']),
    ...(isComplete || store.snapshots !== undefined ? [] : ['snapshots (long logs are read whole)']),
    ...(store.feed !== undefined ? [] : ['the feed of all tasks (traces, an admin API)']),
    ...(store.erasure !== undefined ? [] : ['erasure of an owner']),
    ...(store.stats !== undefined ? [] : ['statistics']),
  ]
  if (off.length === 0) return undefined
  const kept = isComplete ? [] : ['delivery attempts', ...(store.kv === undefined ? ['key-value data'] : [])]
  return `off with this store: ${off.join(', ')}${kept.length > 0 ? `; until the process ends: ${kept.join(', ')}` : ''}`
}

export type CompletedLogStore = ReturnType<typeof completeLogStore>

export function completeLogStore(log: LogStore, options: CompleteStoreOptions = {}) {
  const { leaseTtlMs = Infinity } = options
  const clock: Clock = clockOf(options)
  const { now } = clock
  const steady = createStepCorrection(clock)
  const steadyNow = (): number => steady(now())
  const table = createTaskTable(log, steadyNow)
  const pushes = createPushCursors(table, steady)
  const prune = createPrune(log, table, pushes)
  const searches = createSearches(log, table)
  const entries = createMemoryKeyValue(now)
  const waiters = createChangeWaiters()
  let closing: Promise<void> | undefined

  function useOpen<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    return use(() => (table.isOpened() ? work() : table.opened().then(work)))
  }

  async function use<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    if (closing !== undefined) throw new Error('The store is closed')
    return work()
  }

  /** Each method waits for the start, and rejects after the end. */
  const guarded = <Methods extends object>(methods: Methods): Methods => wrapMethods(methods, useOpen)

  async function append(taskId: string, given: Append): Promise<AppendResult> {
    const key = given.idempotency && messageKeyOf(given.idempotency.key)
    const messageKey = key instanceof Promise ? await key : key
    const names = messageKey === undefined ? [taskId] : [taskId, `message ${messageKey}`]
    const answer = await table.exclusively(names, async () => {
      const claim = messageKey === undefined ? undefined : await claimOf(messageKey, steadyNow())
      if (claim !== undefined) return { outcome: 'duplicate', ...claim } as const
      const known = table.open.get(taskId)
      // The caller has read records of another process, which has changed the row, too.
      if (known !== undefined && known.state.row.head < given.expectedSeq) known.isStale = true
      return table.update(taskId, (entry) => decide(entry, given, messageKey))
    })
    if (answer.outcome === 'appended' && given.records.length > 0) waiters.wake(taskId)
    return answer
  }

  function decide(
    entry: TaskEntry | undefined,
    given: Append,
    messageKey: string | undefined,
  ): TaskUpdate<AppendResult> {
    const standing = entry && appendStateOf(entry.state, entry.leaseUntil)
    const decision = decideAppend(standing, given, now(), table.newNumber)
    if (decision.outcome !== 'appended') return { answer: decision }
    const { next, records, answer } = decision
    const before = entry?.state ?? newTaskState(given.create as NewTask)
    const { lease: _, ...rest } = before
    const firstSeq = next.head - records.length + 1
    const isWoken = next.visibleSeq > before.visibleSeq && before.pushes.length > 0
    // Record times never decrease: after a step back of the clock they are later than now.
    const wokenAt = isWoken ? steady(Math.min(records.at(-1)?.at ?? 0, now())) : 0
    const taskState: TaskState = {
      ...rest,
      row: changedRow(before.row, given.change, next),
      visibleSeq: next.visibleSeq,
      lastAt: next.lastAt,
      ...(next.lease === undefined ? {} : { lease: storedLease(next.lease) }),
      claims: messageKey === undefined ? before.claims : withClaim(before.claims, messageKey, given),
      pushes: isWoken ? wakePushes(before.pushes, wokenAt) : before.pushes,
      bytes: before.bytes + recordsBytes(records),
    }
    return {
      answer,
      next: taskState,
      leaseUntil: next.lease?.until,
      records: records.map(({ at, body }, index): LogRecord => ({ seq: firstSeq + index, at, body })),
      messageKey,
    }
  }

  function withClaim(claims: readonly StoredClaim[], key: string, { idempotency }: Append): readonly StoredClaim[] {
    const { hash = '', ttlMs = 0 } = idempotency ?? {}
    const at = steadyNow()
    const expiresAt = Math.min(at + ttlMs, Number.MAX_SAFE_INTEGER)
    return [...claims.filter((claim) => claim.expiresAt > at), { key, hash, expiresAt }]
  }

  /** A claim ends when it expires, or with its task. */
  async function claimOf(messageKey: string, at: number): Promise<{ taskId: string; hash: string } | undefined> {
    const taskId = await log.findMessage(messageKey)
    const entry = taskId === undefined ? undefined : await table.load(decodeText(taskId))
    const claim = entry?.state.claims.findLast(({ key, expiresAt }) => key === messageKey && expiresAt > at)
    return claim === undefined || entry === undefined ? undefined : { taskId: entry.state.row.id, hash: claim.hash }
  }

  async function read(taskId: string, afterSeq: number, limit = Infinity, maxBytes = Infinity): Promise<LogRecord[]> {
    const records: LogRecord[] = []
    let bytes = 0
    for (let size = maxBytes === Infinity ? maxPage : firstPage; ; size = Math.min(size * 4, maxPage)) {
      const wanted = Math.min(size, limit - records.length)
      const page = wanted <= 0 ? [] : await log.read(encodeText(taskId), records.at(-1)?.seq ?? afterSeq, wanted)
      for (const record of page) {
        records.push(record)
        if (maxBytes !== Infinity && (bytes += recordBytes(record.body)) >= maxBytes) return records
      }
      if (page.length < size) return records
    }
  }

  const tasks: TaskStore = guarded({
    append,
    load: async (taskId) => (await table.load(taskId))?.state.row,
    sizeOf: async (taskId) => (await table.load(taskId))?.state.bytes ?? 0,
    read,
    async firstSeq(taskId) {
      const head = (await table.load(taskId))?.state.row.head ?? 0
      return (await read(taskId, 0, 1))[0]?.seq ?? head + 1
    },
    async changed(taskId, afterSeq, signal) {
      const head = (await table.load(taskId))?.state.row.head ?? 0
      if (head <= afterSeq) await waiters.wait(taskId, signal)
    },
    ...searches,
    findMessage: async (key, at) => claimOf(await messageKeyOf(key), steady(at)),
    async saveSnapshot(taskId, snapshot) {
      if (log.snapshots === undefined) return
      await table.exclusively([taskId], async () => {
        if ((await table.load(taskId)) === undefined) return
        const known = await log.snapshots?.load(encodeText(taskId))
        if (snapshot.seq >= (known?.seq ?? 0)) await log.snapshots?.save(encodeText(taskId), snapshot)
      })
    },
    loadSnapshot: async (taskId) => log.snapshots?.load(encodeText(taskId)),
    claimOrphans: (holder, at, ttlMs, limit) =>
      // One after the other, so that two callers do not look at the same tasks.
      table.exclusively(['orphans'], async () => {
        const orphans = [...table.open.values()].filter((entry) => isOrphan(entry, at))
        orphans.sort((a, b) => oldestFirst(a.state.row, b.state.row))
        const claimed: LeasedTask[] = []
        for (const { state } of orphans) {
          if (claimed.length >= limit) break
          claimed.push(...(await claimOrphan(state.row.id, holder, at, ttlMs)))
        }
        return claimed
      }),
    async renew(holder, taskIds, until, fences) {
      const at = now()
      return taskIds.filter((taskId, index) => {
        const entry = table.open.get(taskId)
        const lease = entry?.state.lease
        if (entry === undefined || lease?.holder !== holder || entry.leaseUntil <= at) return true
        if (fences !== undefined && lease.fence !== fences[index]) return true
        entry.leaseUntil = until
        return false
      })
    },
    claimDue: (at, limit) =>
      table.exclusively(['due'], async () => {
        const due = [...table.open.values()].filter((entry) => isDue(entry, at))
        due.sort((a, b) => dueAtOf(a) - dueAtOf(b) || (a.state.row.id < b.state.row.id ? -1 : 1))
        const claimed: { readonly task: TaskRow; readonly due: DueTime }[] = []
        for (const { state } of due) {
          if (claimed.length >= limit) break
          claimed.push(...(await claimDueTask(state.row.id, at)))
        }
        return claimed
      }),
  } satisfies TaskStore)

  function claimOrphan(taskId: string, holder: string, at: number, ttlMs: number): Promise<readonly LeasedTask[]> {
    return table.exclusively([taskId], () =>
      table.update(taskId, (entry): TaskUpdate<readonly LeasedTask[]> => {
        if (entry === undefined || !isOrphan(entry, at)) return { answer: [] }
        const { due } = entry.state.row
        const isTurn = due?.kind === 'turn'
        const row = isTurn
          ? { ...entry.state.row, due: { ...due, at: Math.max(due.at, at + dueAgainMs) } }
          : entry.state.row
        const fence = table.newNumber()
        const lease = { holder, fence, until: at + ttlMs }
        const next = { ...entry.state, row, lease: storedLease(lease) }
        return { answer: [{ task: row, fence }], next, leaseUntil: lease.until }
      }),
    )
  }

  /** Postponed in memory: if this process ends, the task is due at once for the next. */
  function claimDueTask(taskId: string, at: number): Promise<readonly { task: TaskRow; due: DueTime }[]> {
    return table.exclusively([taskId], async () => {
      const entry = await table.load(taskId)
      const { due } = entry?.state.row ?? {}
      if (entry === undefined || due === undefined || !isDue(entry, at)) return []
      const row = { ...entry.state.row, due: { ...due, at: at + dueAgainMs } }
      entry.state = { ...entry.state, row }
      return [{ task: row, due }]
    })
  }

  async function close(): Promise<void> {
    await table.settled()
    waiters.wakeAll()
    await log.close?.()
  }

  const store: Store = {
    leaseTtlMs,
    tasks,
    push: guarded(pushes.facet),
    keys: log.keys ?? guarded(createKeyRows(log)),
    kv: wrapMethods(log.kv ?? entries.kv, use),
    prune: (retention) =>
      useOpen(async () => {
        entries.forgetExpired()
        await log.kv?.removeExpired?.()
        return prune(retention)
      }),
    ...(log.feed === undefined ? {} : { feed: log.feed }),
    ...(log.erasure === undefined ? {} : { erasure: log.erasure }),
    ...(log.stats === undefined ? {} : { stats: log.stats.bind(log) }),
    ...(log.ready === undefined ? {} : { ready: log.ready.bind(log) }),
    close: () => (closing ??= close()),
  }
  return { store, table, pushes, entries, steadyNow, guarded }
}

/** How many records are read at once, and how many first if the bytes are limited: they may be large. */
const maxPage = 512
const firstPage = 16

function isOrphan({ state, leaseUntil }: TaskEntry, at: number): boolean {
  return state.lease !== undefined && leaseUntil <= at && !isTerminal(state.row.status.state)
}

/** The turn of an orphan was interrupted: it is taken over, and does not time out. */
function isDue(entry: TaskEntry, at: number): boolean {
  return dueAtOf(entry) <= at && !(entry.state.row.due?.kind === 'turn' && isOrphan(entry, at))
}

function dueAtOf({ state }: TaskEntry): number {
  return state.row.due?.at ?? Infinity
}

const maxMessageKey = 300
const digestMark = 'sha256:'

/** A key of any length and with any characters, as an index can hold it. A promise only for a long one. */
function messageKeyOf(key: string): string | Promise<string> {
  const text = encodeText(key)
  return text.length <= maxMessageKey && !text.startsWith(digestMark) ? text : digestOf(text)
}

async function digestOf(text: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
  return digestMark + Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
