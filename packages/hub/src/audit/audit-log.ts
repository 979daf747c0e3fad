/**
 * The audit log of every request, off the hot path: entries are collected for up to a second and written as one batch, because a
 * row each would cost the store more than the request did. Security events are written at once, together with the pending entries.
 * Read newest first; batches older than the retention are deleted.
 */
import { isTerminal, newId, type Json, type TaskState } from '@parley/a2a'
import type { KeyValueStore } from '@parley/a2a/stores'
import type { EndedCall, EventContext } from '@parley/a2a/server'
import { keyAfter, timeOfKey } from './audit-key.ts'

export interface AuditQuery {
  readonly limit: number
  /** The `before` of the previous page. */
  readonly before?: string | undefined
  /** Whether to include an entry. Default: all. */
  matches?(entry: AuditEntry): boolean
  /** Milliseconds since the epoch; older entries are skipped. */
  readonly since?: number | undefined
}

export interface ListedAuditEntry extends AuditEntry {
  /** The position of the entry; a page requested with `before` the next position begins with it. */
  readonly id: string
}

export interface AuditPage {
  readonly entries: readonly ListedAuditEntry[]
  /** The cursor of the next page, if there is more. */
  readonly before?: string
}

export interface AuditLog {
  record(entry: AuditEntry): void
  list(query: AuditQuery): Promise<AuditPage>
  /** Resolves when everything recorded so far is written. */
  flush(): Promise<void>
  close(): Promise<void>
}

export interface AuditLogDeps {
  readonly kv: KeyValueStore
  readonly now?: () => number
  /** Read for every batch: it may change. */
  readonly retentionMs: number
  /**
   * Whether other processes write to the store. If not, keys never decrease, even if the clock was set back since the last start, so
   * that their order is that of the commits. Default true.
   */
  readonly isShared?: boolean
  /** The key of a batch: a UUID of version 7 with the current time. Default: `newId`. */
  readonly newKey?: () => string
  /** Called when a write failed; it is retried. */
  onError?(cause: unknown): void
}

export const auditKind = 'audit'
const kind = auditKind
const flushIntervalMs = 1_000
/** Entries per batch. */
const maxEntriesPerBatch = 500
/** So many entries are written before the second is over. Every write is a commit, and a busy hub has 500 entries ten times a second. */
const maxEntriesPerFlush = 2_000
/** Entries kept while the store is unavailable; the oldest are dropped first. */
const maxPending = 20_000
/**
 * On a shared store, how long a write may take. An export finds a batch only if it is stored within ten minutes of the time in its key
 * (audit-reader.ts): the rest is for clocks that differ. The store gives up earlier, but a paused process continues where it was.
 */
const maxWriteMs = 60_000
/** Batches read for one page, regardless of the number of matches. */
const maxNotesSearched = 200

export function createAuditLog(deps: AuditLogDeps): AuditLog {
  const { kv, now = Date.now, isShared = true, newKey = () => newId(), onError = () => {} } = deps
  const keys = isShared ? async () => newKey : increasingKeys(kv, newKey)
  let pending: AuditEntry[] = []
  let lost = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let writing: Promise<void> | undefined

  function record(entry: AuditEntry): void {
    if (pending.length >= maxPending) lost += pending.splice(0, maxEntriesPerBatch).length
    pending.push(entry)
    if (isSecurityEvent(entry) || pending.length >= maxEntriesPerFlush) void flush()
    else timer ??= setTimeout(() => void flush(), flushIntervalMs).unref()
  }

  /** One write at a time: entries that arrive meanwhile go with the next write. */
  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    if (writing !== undefined) {
      await writing
      if (pending.length > 0) await flush()
      return
    }
    if (pending.length === 0) return
    writing = writeAll().finally(() => (writing = undefined))
    await writing
  }

  async function writeAll(): Promise<void> {
    if (lost > 0) pending.push({ at: now(), event: 'audit.lost', count: lost })
    const batch = pending
    pending = []
    try {
      await write(batch)
      lost = 0
    } catch (cause) {
      pending = [...batch.filter(({ event }) => event !== 'audit.lost'), ...pending]
      timer ??= setTimeout(() => void flush(), flushIntervalMs).unref()
      onError(cause)
    }
  }

  /** A write that took too long is repeated with new keys, and then removed: an export may have read past the first ones. */
  async function write(entries: readonly AuditEntry[]): Promise<void> {
    let late: readonly string[] = []
    for (;;) {
      const nextKey = await keys()
      const startedAt = now()
      const expiresAt = startedAt + deps.retentionMs
      const batches = chunks(entries).map((part) => ({ key: nextKey(), value: part as unknown as Json, expiresAt }))
      await kv.writeAll(kind, batches)
      // What cannot be removed is only read twice.
      for (const key of late) await kv.remove(kind, key).catch(() => false)
      if (!isShared || now() - startedAt <= maxWriteMs) return
      late = batches.map(({ key }) => key)
    }
  }

  return {
    record,
    flush,
    async list({ limit, before, matches = () => true, since = 0 }) {
      await flush()
      const from = parseAuditCursor(before)
      const entries: ListedAuditEntry[] = []
      let searched = 0
      let after = from?.batchKey
      // The rest of the batch in which the previous page ended.
      const partial = from === undefined || from.rest === 0 ? undefined : await kv.read(kind, from.batchKey)
      let found = partial === undefined ? [] : [{ ...partial, value: (partial.value as Json[]).slice(0, from?.rest) }]
      for (;;) {
        for (const { key, value } of found) {
          const held = value as unknown as readonly AuditEntry[]
          // Entries are older than the key of their batch, and the keys that follow are smaller.
          if (timeOfKey(key) < since) return { entries }
          for (let index = held.length - 1; index >= 0; index--) {
            const entry = held[index] as AuditEntry
            if (entry.at < since || !matches(entry)) continue
            entries.push({ ...entry, id: `${key}.${index}` })
            if (entries.length === limit) return { entries, before: `${key}.${index}` }
          }
          after = key
          searched += 1
        }
        if (searched >= maxNotesSearched && after !== undefined) return { entries, before: `${after}.0` }
        found = [
          ...(await kv.list(kind, { descending: true, limit: 20, ...(after !== undefined ? { after } : {}) })),
        ] as typeof found
        if (found.length === 0) return { entries }
      }
    },
    async close() {
      await flush()
      clearTimeout(timer)
    },
  }
}

/** Keys greater than every stored one. */
function increasingKeys(kv: KeyValueStore, newKey: () => string): () => Promise<() => string> {
  let last: string | undefined
  return async () => {
    last ??= (await kv.list(kind, { descending: true, limit: 1 }))[0]?.key ?? ''
    return () => {
      const fresh = newKey()
      last = fresh > (last ?? '') ? fresh : keyAfter(last as string)
      return last
    }
  }
}

function chunks(entries: readonly AuditEntry[]): readonly (readonly AuditEntry[])[] {
  const made: (readonly AuditEntry[])[] = []
  for (let at = 0; at < entries.length; at += maxEntriesPerBatch) made.push(entries.slice(at, at + maxEntriesPerBatch))
  return made
}

interface AuditCursor {
  readonly batchKey: string
  /** The number of entries of that batch before the cursor. */
  readonly rest: number
}

function parseAuditCursor(before: string | undefined): AuditCursor | undefined {
  const [, batchKey, rest] = /^([0-9a-f-]{36})\.(\d{1,6})$/.exec(before ?? '') ?? []
  return batchKey === undefined ? undefined : { batchKey, rest: Number(rest) }
}

/** Tasks that wait for input for days are evicted by newer ones, and may then be recorded once more. */
const maxRemembered = 10_000

/** The state changes of tasks, for the audit (T-12). Repeated states are left out. */
export function createTaskStateAudit(audit: Pick<AuditLog, 'record'>, now: () => number): (task: AuditedTask) => void {
  const last = new Map<string, string>()
  return ({ agent, owner, taskId, state }) => {
    if (last.get(taskId) === state) return
    last.delete(taskId)
    if (!isTerminal(state)) last.set(taskId, state)
    const [oldest] = last.keys()
    if (last.size > maxRemembered && oldest !== undefined) last.delete(oldest)
    audit.record({
      at: now(),
      event: 'task.state',
      who: truncateField(owner),
      agent: truncateField(agent),
      task: truncateField(taskId),
      state,
    })
  }
}

/** A task that was created or changed state. */
export interface AuditedTask extends Pick<EventContext, 'agent' | 'owner' | 'taskId'> {
  readonly state: TaskState
}

/**
 * An audit entry: who did what, when, from where, with which outcome. Fields are copied one by one and truncated: only named fields
 * are kept, so that no content and no secret gets in as part of another value.
 */
export type AuditEvent =
  | 'call'
  | 'card'
  | 'task.state'
  | 'key.created'
  | 'key.revoked'
  | 'key.rotated'
  | 'session.opened'
  | 'session.ended'
  | 'config.applied'
  | 'secret.set'
  | 'secret.removed'
  | 'card.approved'
  | 'agent.retried'
  | 'agent.retry-stopped'
  | 'admin'
  | 'audit.lost'
  | 'erasure.requested'
  | 'erasure.finished'

export interface AuditEntry {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly event: AuditEvent
  /** The principal: `issuer|subject`, that of a key, `anonymous`, `admin`. Absent if the caller was not authenticated. */
  readonly who?: string
  /** The id of the key that was presented, or that the entry is about; not secret. */
  readonly key?: string
  readonly agent?: string
  readonly operation?: string
  readonly binding?: string
  readonly version?: string
  readonly task?: string
  readonly state?: TaskState
  /** `OK` or the error code. */
  readonly outcome?: string
  readonly status?: number
  readonly from?: string
  readonly durationMs?: number
  readonly count?: number
}

/** Longer than any name that we make; a foreign one may be as long as a header. */
const maxFieldLength = 256

export function truncateField(value: string): string {
  return value.length <= maxFieldLength ? value : `${value.slice(0, maxFieldLength)}…`
}

/** A caller may put anything in place of an id; values that cannot be ids are dropped. */
function isId(value: string): boolean {
  return /^[\w.:-]{1,64}$/.test(value)
}

interface RequestAuditInfo {
  readonly at: number
  readonly keyId?: string | undefined
}

export function requestAuditEntry(call: EndedCall, { at, keyId }: RequestAuditInfo): AuditEntry {
  const { agent, caller, endpoint, operation, binding, version, outcome, status, taskId, durationMs } = call
  const { clientAddress: from } = call
  // Assigned one by one: conditional spreads took four times as long.
  const entry: { -readonly [Field in keyof AuditEntry]: AuditEntry[Field] } = { at, event: endpoint }
  if (caller !== undefined) entry.who = truncateField(caller.id)
  if (keyId !== undefined) entry.key = keyId
  entry.agent = truncateField(agent)
  if (operation !== undefined) entry.operation = operation
  entry.binding = binding
  if (version !== undefined) entry.version = version
  if (taskId !== undefined && isId(taskId)) entry.task = taskId
  entry.outcome = outcome
  entry.status = status
  if (from !== undefined) entry.from = truncateField(from)
  entry.durationMs = Math.round(durationMs)
  return entry
}

/** Whether the entry is about a refused caller or about credentials; such entries are written at once. */
function isSecurityEvent({ event, outcome }: AuditEntry): boolean {
  if (outcome === 'UNAUTHENTICATED' || outcome === 'PERMISSION_DENIED') return true
  if (event.startsWith('erasure.')) return true
  return (
    event.startsWith('key.') ||
    event.startsWith('secret.') ||
    event.startsWith('session.') ||
    event.startsWith('config.')
  )
}
