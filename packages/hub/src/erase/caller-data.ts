/**
 * Finds what the key-value store holds about a caller. Nothing is remembered between two calls: every function reads the store, so
 * that an interrupted erasure continues by starting again.
 */
import type { Json } from '@parley/a2a'
import { sessionKey, type EntryAddress } from '@parley/a2a/internal'
import type { KeyValueEntry, KeyValueStore, Store, TaskRow } from '@parley/a2a/stores'
import { type AuditEntry, truncateField } from '../audit/audit-log.ts'
import { ownerIndexKey, ownerIndexKind, parseKeyRecord, serializeKeyRecord } from '../auth/key-format.ts'
import { creatorQuotaId } from '../limits/task-quota.ts'
import { callerIn, callersPrefix } from '../telemetry/stats/caller-stats.ts'
import { statsKind } from '../telemetry/stats/stats-history.ts'
import { traceEntryFrom, traceEntryKeys, traceIndexKind } from '../telemetry/traces/trace-summary.ts'

/** Entries to remove and to replace, and how many things they are: all, or those of one page. */
export interface FoundEntries {
  readonly entries: readonly EntryAddress[]
  readonly replacements: readonly (EntryAddress & { readonly value: Json })[]
  readonly found: number
}

const pageSize = 500
/** Each batch has up to 500 entries of the audit: a page has some megabytes. */
const auditBatchesPerPage = 20
/** What stands before the name of a caller in the owner of a task: agents that work on its behalf, and the console. */
const onBehalf = /^(?:agent:[^|]*\|)*(?:console\|)?$/

/** Whether the owner of a task is the caller, or acts on its behalf. */
export function isOwnedBy(owner: string, caller: string): boolean {
  return owner.endsWith(caller) && onBehalf.test(owner.slice(0, owner.length - caller.length))
}

export async function* entriesOf(kv: KeyValueStore, kind: string, prefix = ''): AsyncGenerator<KeyValueEntry> {
  for await (const page of pagesOf(kv, kind, { prefix })) yield* page
}

/** Entries of a page may be removed before the next page is read. */
async function* pagesOf(
  kv: KeyValueStore,
  kind: string,
  { prefix = '', limit = pageSize }: { readonly prefix?: string; readonly limit?: number },
): AsyncGenerator<readonly KeyValueEntry[]> {
  let after: string | undefined
  for (;;) {
    const page = await kv.list(kind, { prefix, limit, ...(after === undefined ? {} : { after }) })
    yield page
    if (page.length < limit) return
    after = page.at(-1)?.key
  }
}

export interface FoundCredential {
  readonly id: string
  /** Whether it must be revoked first. */
  readonly isActive: boolean
  readonly entries: readonly EntryAddress[]
}

/** The API keys that act as the caller, revoked and expired ones included. */
export async function findKeys(kv: KeyValueStore, caller: string): Promise<readonly FoundCredential[]> {
  const found: FoundCredential[] = []
  for await (const { key: id, value } of entriesOf(kv, 'key')) {
    const record = parseKeyRecord(value)
    if (record.principal !== caller) continue
    found.push({
      id,
      isActive: record.revokedAt === undefined,
      entries: [
        { kind: 'key', key: id },
        { kind: ownerIndexKind, key: ownerIndexKey(record) },
      ],
    })
  }
  return found
}

/** Quota counters and last use of a key. */
export async function findKeyCounters(kv: KeyValueStore, keyId: string): Promise<readonly EntryAddress[]> {
  const use = await kv.read('key-use', keyId)
  return [...(await findQuotas(kv, keyId)), ...(use === undefined ? [] : [{ kind: 'key-use', key: keyId }])]
}

/** The quota counters of all keys that the caller created for itself. */
export function findCreatorCounters(kv: KeyValueStore, caller: string): Promise<readonly EntryAddress[]> {
  return findQuotas(kv, creatorQuotaId(caller))
}

async function findQuotas(kv: KeyValueStore, id: string): Promise<readonly EntryAddress[]> {
  const found = await Array.fromAsync(entriesOf(kv, 'quota', `${id}/`))
  return found.map(({ key }) => ({ kind: 'quota', key }))
}

/** The sessions of the console that the caller opened. */
export async function findSessions(kv: KeyValueStore, caller: string): Promise<readonly FoundCredential[]> {
  const found: FoundCredential[] = []
  for await (const { key: id, value } of entriesOf(kv, 'session')) {
    if ((value as { readonly subject?: Json }).subject !== caller) continue
    found.push({
      id,
      isActive: true,
      entries: [
        { kind: 'session', key: id },
        { kind: 'session-use', key: id },
      ],
    })
  }
  return found
}

/**
 * Keys with another principal that this caller has created: their records stay, because tasks belong to them. Those that it created
 * for itself are revoked.
 */
export async function findCreatedKeys(
  kv: KeyValueStore,
  caller: string,
  { pseudonym, now }: { readonly pseudonym: string; readonly now: number },
): Promise<FoundEntries & { readonly activeKeys: readonly string[] }> {
  const entries: EntryAddress[] = []
  const replacements: (EntryAddress & { readonly value: Json })[] = []
  const activeKeys: string[] = []
  for await (const { key, value } of entriesOf(kv, 'key')) {
    const record = parseKeyRecord(value)
    if (record.createdBy !== caller || record.principal === caller) continue
    const isRevoked = record.isCallerKey === true && record.revokedAt === undefined
    if (isRevoked) activeKeys.push(key)
    if (record.isCallerKey === true) entries.push({ kind: ownerIndexKind, key: ownerIndexKey(record) })
    const changed = { ...record, createdBy: pseudonym, ...(isRevoked ? { revokedAt: now } : {}) }
    replacements.push({ kind: 'key', key, value: serializeKeyRecord(changed) })
  }
  return { entries, replacements, found: replacements.length, activeKeys }
}

/** What agents keep about a task and its conversation: sessions of a backend, and ids at a remote agent. */
export async function findAgentEntries(kv: KeyValueStore, task: TaskRow): Promise<readonly EntryAddress[]> {
  const { id, agent, owner, tenant, contextId } = task
  const session = sessionKey({ tenant, caller: { id: owner }, task: { contextId } }, agent)
  const kindOf = (kind: string): string => `agent/${agent}/${kind}`
  const candidates = [
    { kind: kindOf('task'), key: id },
    { kind: kindOf('session'), key: session },
    { kind: kindOf('context'), key: session },
    { kind: 'delegation/tasks', key: id },
  ]
  const read = await Promise.all(candidates.map(async (one) => ({ one, entry: await kv.read(one.kind, one.key) })))
  const found = read.filter(({ entry }) => entry !== undefined).map(({ one }) => one)
  const remoteContext = read.find(({ one }) => one.kind === kindOf('context'))?.entry?.value
  if (typeof remoteContext !== 'string') return found
  const claim = await kv.read(kindOf('claim'), remoteContext)
  return claim?.value === session ? [...found, { kind: kindOf('claim'), key: remoteContext }] : found
}

/** The trace entries of the caller's tasks, page by page. */
export async function* findTraces(kv: KeyValueStore, caller: string): AsyncGenerator<FoundEntries> {
  const kind = `telemetry/${traceIndexKind}`
  for (const prefix of ['root/', 'child/']) {
    for await (const page of pagesOf(kv, kind, { prefix })) {
      const entries: EntryAddress[] = []
      let found = 0
      for (const entry of page) {
        const note = traceEntryFrom(entry)
        if (note === undefined || !isOwnedBy(note.caller, caller)) continue
        found += 1
        entries.push(...traceEntryKeys(entry.key.slice(prefix.length), note).map((key) => ({ kind, key })))
      }
      yield { entries, replacements: [], found }
    }
  }
}

/** What the statistics counted of the caller, page by page. */
export async function* findCallerStats(kv: KeyValueStore, caller: string): AsyncGenerator<FoundEntries> {
  const kind = `telemetry/${statsKind}`
  for await (const page of pagesOf(kv, kind, { prefix: callersPrefix })) {
    const found = page.filter(({ value }) => isOwnedBy(callerIn(value), caller))
    yield { entries: found.map(({ key }) => ({ kind, key })), replacements: [], found: found.length }
  }
}

/** Audit entries that name the caller or one of its keys, page by page: the entries stay, under a pseudonym. */
export async function* findAuditEntries(
  kv: KeyValueStore,
  caller: string,
  keyIds: ReadonlySet<string>,
  pseudonym: string,
): AsyncGenerator<FoundEntries> {
  const isTruncated = truncateField(caller) !== caller
  const isCaller = (who: string): boolean =>
    isOwnedBy(who, caller) || (isTruncated && isOwnedBy(who, truncateField(caller)))
  for await (const page of pagesOf(kv, 'audit', { limit: auditBatchesPerPage })) {
    const replacements: (EntryAddress & { readonly value: Json })[] = []
    let found = 0
    for (const { key, value } of page) {
      let changed = 0
      const entries = (value as unknown as readonly AuditEntry[]).map((entry) => {
        const isWho = entry.who !== undefined && isCaller(entry.who)
        const isKey = entry.key !== undefined && keyIds.has(entry.key)
        if (!isWho && !isKey) return entry
        changed += 1
        return {
          ...entry,
          ...(isWho ? { who: pseudonym } : {}),
          ...(entry.key !== undefined ? { key: pseudonym } : {}),
          // The address of another caller, such as the admin who created the key, is not that of this one.
          ...((isWho || entry.who === undefined) && entry.from !== undefined ? { from: pseudonym } : {}),
        }
      })
      if (changed > 0) replacements.push({ kind: 'audit', key, value: entries as unknown as Json })
      found += changed
    }
    yield { entries: [], replacements, found }
  }
}

/**
 * Changes of webhooks of tasks that no longer exist, page by page: their ids are chosen by the caller. The batch stays, so that readers
 * find no gap in the numbers.
 */
export async function* findJournalEntries(
  kv: KeyValueStore,
  { tasks }: Pick<Store, 'tasks'>,
): AsyncGenerator<FoundEntries> {
  for await (const page of pagesOf(kv, 'news', {})) {
    const replacements: (EntryAddress & { readonly value: Json })[] = []
    let found = 0
    for (const { key, value } of page) {
      const changes = value as readonly { readonly type?: string; readonly taskId?: string }[]
      const gone = await Promise.all(
        changes.map(async ({ type, taskId }) => type === 'push' && (await tasks.load(taskId ?? '')) === undefined),
      )
      const kept = changes.filter((_, index) => gone[index] !== true)
      if (kept.length === changes.length) continue
      found += changes.length - kept.length
      replacements.push({ kind: 'news', key, value: kept })
    }
    yield { entries: [], replacements, found }
  }
}

/** Versions of the configuration that the caller applied, and secrets of the hub that it set: their contents stay. */
export async function findAdminChanges(kv: KeyValueStore, caller: string, pseudonym: string): Promise<FoundEntries> {
  const replacements: (EntryAddress & { readonly value: Json })[] = []
  const changes = [
    { kind: 'config-version', field: 'who' },
    { kind: 'hub-secret', prefix: 'about/', field: 'setBy' },
  ]
  for (const { kind, prefix, field } of changes) {
    for await (const { key, value } of entriesOf(kv, kind, prefix)) {
      const change = value as { readonly [name: string]: Json }
      if (change[field] === caller) replacements.push({ kind, key, value: { ...change, [field]: pseudonym } })
    }
  }
  return { entries: [], replacements, found: replacements.length }
}
