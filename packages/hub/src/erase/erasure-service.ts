/**
 * Erasures of a hub: requests them, works on them one after the other, and finishes those that a process left. The record in the
 * store is the state: a killed process loses at most the count of its last step.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { AgentLog } from '@parley/a2a'
import type { Compaction } from '@parley/a2a/internal'
import type { FullStore } from '@parley/a2a/stores'
import type { AuditLog } from '../audit/audit-log.ts'
import { entriesOf, isOwnedBy } from './caller-data.ts'
import { eraseCaller, eraseEntries, previewErasure, type LiveHub } from './erase-caller.ts'
import {
  addCounts,
  erasureKind,
  erasureValue,
  newErasure,
  noCounts,
  readErasure,
  storedErasureOf,
  type ErasureCounts,
  type ErasureRecord,
  type StoredErasure,
} from './erasure-record.ts'

export interface ErasureServiceDeps {
  readonly store: FullStore
  /** Absent: no hub runs, and only the store is erased. */
  readonly hub?: LiveHub | undefined
  readonly audit?: Pick<AuditLog, 'record' | 'flush'> | undefined
  readonly log: Pick<AgentLog, 'warn' | 'info'>
  readonly now: () => number
  /** How long receipts are kept. */
  receiptMs(): number
  /** How long other replicas may still write what they have in memory. Default: 12 s with a shared store. */
  readonly settleMs?: number | undefined
  /** Called after every step. */
  onProgress?(record: ErasureRecord): void
}

export interface ErasureOrder {
  readonly caller: string
  readonly requestedBy: string
  readonly compact: boolean
}

export interface ErasureService {
  /** Counts what would be erased. Changes nothing. */
  preview(caller: string): Promise<ErasureCounts>
  /** Records the erasure and starts it. */
  request(order: ErasureOrder): Promise<ErasureRecord>
  get(id: string): Promise<ErasureRecord | undefined>
  /** Newest first. */
  list(limit: number): Promise<readonly ErasureRecord[]>
  /** Continues what an ended process left; also called every minute. Resolves when nothing is left to do. */
  resume(): Promise<void>
  /** Starts looking for abandoned erasures. */
  start(): void
  close(): Promise<void>
}

/** A process that has not written its progress for so long is considered dead. */
const leaseMs = 60_000
const resumeEveryMs = 60_000
/** Longer than any replica keeps audit entries, uses of keys and revoked grants in memory. */
const sharedSettleMs = 12_000

export function createErasureService(deps: ErasureServiceDeps): ErasureService {
  const { store, hub, log, now } = deps
  const { kv } = store
  const isShared = Number.isFinite(store.leaseTtlMs)
  const settleMs = deps.settleMs ?? (isShared ? sharedSettleMs : 0)
  const closing = new AbortController()
  const working = new Map<string, Promise<void>>()
  let timer: ReturnType<typeof setInterval> | undefined
  let queue: Promise<void> = Promise.resolve()

  /** One at a time: they read the same data. */
  function enqueue(id: string): Promise<void> {
    const known = working.get(id)
    if (known !== undefined) return known
    const done = queue.then(() => work(id)).finally(() => working.delete(id))
    working.set(id, done)
    queue = done.catch((cause: unknown) => {
      if (!closing.signal.aborted) log.warn('an erasure was interrupted; it will be continued', { erasure: id, cause })
    })
    return done
  }

  /** Returns the new version. Throws if another process has written the record. */
  async function save(record: ErasureRecord, version: number): Promise<number> {
    const written = await kv.write(erasureKind, { key: record.id, value: erasureValue(record) }, version)
    if (written === undefined) throw new Error('another process works on this erasure')
    deps.onProgress?.(record)
    return written
  }

  async function work(id: string): Promise<void> {
    const stored = await readErasure(kv, id)
    if (stored === undefined || stored.record.state === 'done' || closing.signal.aborted) return
    let { record } = stored
    let { version } = stored
    const update = async (changes: Partial<ErasureRecord>): Promise<void> => {
      closing.signal.throwIfAborted()
      record = { ...record, ...changes, heldUntil: now() + leaseMs }
      version = await save(record, version)
    }
    await update({})
    const { caller } = record
    if (caller !== undefined) {
      await eraseOnce(caller)
      if (settleMs > 0) {
        await update({ state: 'settling' })
        await sleep(settleMs, undefined, { signal: closing.signal })
        await eraseOnce(caller)
      }
      // Every replica has read them by now, and they contain the ids of the keys.
      const revocations = (record.keyIds ?? []).map((key) => ({ kind: 'revoked-grant', key: `key:${key}` }))
      await eraseEntries(store, { entries: revocations, replacements: [], found: 0 })
      await removeSubject(caller)
    }
    if (!record.compact) return finish()
    await update({ state: 'compacting' })
    await finish({ compaction: await compact() })

    async function eraseOnce(subject: string) {
      const before = record.counts
      let last = noCounts
      const onProgress = async (counts: ErasureCounts): Promise<void> => {
        // A long search that finds nothing only keeps the lease.
        if (counts === last && (record.heldUntil ?? 0) > now() + leaseMs / 2) return
        last = counts
        await update({ counts: addCounts(before, counts) })
      }
      const onKeys = (keyIds: readonly string[]) => update({ keyIds })
      return eraseCaller({ store, hub, now, onProgress, onKeys }, subject, record.pseudonym, record.keyIds)
    }

    /** A failure is part of the receipt: everything is erased, and only its old bytes may be left. */
    async function compact(): Promise<Compaction> {
      try {
        return await store.erasure.compact()
      } catch (cause) {
        closing.signal.throwIfAborted()
        return { isDone: false, reason: cause instanceof Error ? cause.message : String(cause) }
      }
    }

    /** Overwritten where the store can, because the record names the caller. */
    async function removeSubject(subject: string): Promise<void> {
      const { caller: _, keyIds: _keys, ...rest } = record
      const requestedBy = isOwnedBy(rest.requestedBy, subject) ? rest.pseudonym : rest.requestedBy
      record = { ...rest, requestedBy }
      const value = erasureValue(record)
      await store.erasure.erase({ replacements: [{ kind: erasureKind, key: id, value }] })
      version += 1
    }

    async function finish(changes: Partial<ErasureRecord> = {}): Promise<void> {
      const { heldUntil: _, ...rest } = record
      record = { ...rest, ...changes, state: 'done', finishedAt: now() }
      const expiresAt = now() + deps.receiptMs()
      await kv.write(erasureKind, { key: id, value: erasureValue(record), expiresAt })
      deps.audit?.record({
        at: now(),
        event: 'erasure.finished',
        who: record.requestedBy,
        count: record.counts.tasks,
        outcome: 'OK',
      })
      deps.onProgress?.(record)
    }
  }

  async function unfinished(): Promise<readonly StoredErasure[]> {
    const all = (await Array.fromAsync(entriesOf(kv, erasureKind))).map(storedErasureOf)
    return all.filter(({ record }) => record.state !== 'done')
  }

  async function resume(): Promise<void> {
    for (const { record } of await unfinished())
      // Of a store of one process, the previous holder is dead.
      if (!isShared || (record.heldUntil ?? 0) <= now() || working.has(record.id)) await enqueue(record.id)
  }

  return {
    preview: (caller) => previewErasure({ store, hub }, caller),
    async request({ caller, requestedBy, compact }) {
      // The same request again, such as after a lost connection, continues the first.
      const same = (await unfinished()).find(({ record }) => record.caller === caller)
      if (same !== undefined) {
        void enqueue(same.record.id).catch(() => {})
        return same.record
      }
      const record = newErasure({ caller, requestedBy, compact, now: now() })
      await kv.write(erasureKind, { key: record.id, value: erasureValue(record) }, 0)
      void enqueue(record.id).catch(() => {})
      return record
    },
    get: async (id) => (await readErasure(kv, id))?.record,
    async list(limit) {
      const found = await kv.list(erasureKind, { descending: true, limit })
      return found.map((entry) => storedErasureOf(entry).record)
    },
    resume,
    start() {
      const look = (): void =>
        void resume().catch((cause: unknown) => log.warn('erasures could not be continued', { cause }))
      timer ??= setInterval(look, resumeEveryMs).unref()
      look()
    },
    async close() {
      clearInterval(timer)
      closing.abort()
      await Promise.allSettled(working.values())
    },
  }
}
