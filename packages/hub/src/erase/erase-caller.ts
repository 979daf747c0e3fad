/**
 * Erases everything of a caller, step by step. Each step finds what is left and removes it, so that the work can be repeated after
 * any interruption. Works on a store alone; with the parts of a running hub, running tasks are canceled and open streams end.
 */
import { isTerminal } from '@parley/a2a'
import type { FullStore, TaskRow } from '@parley/a2a/stores'
import {
  findAgentEntries,
  findAuditEntries,
  findAdminChanges,
  findCallerStats,
  findCreatedKeys,
  findCreatorCounters,
  findJournalEntries,
  findKeyCounters,
  findKeys,
  findSessions,
  findTraces,
  isOwnedBy,
  type FoundEntries,
} from './caller-data.ts'
import { addCounts, noCounts, type ErasureCounts } from './erasure-record.ts'

/** What a running hub has in memory of a caller. */
export interface LiveHub {
  /** Cancels a task, or does nothing if it has ended. */
  cancel(taskId: string): Promise<void>
  /** Drops removed tasks from memory and ends their streams. */
  forget(taskIds: readonly string[]): Promise<void>
  /** Revokes a key, ends its streams and forgets its last use. */
  revokeKey(id: string): Promise<void>
  endSession(id: string): Promise<void>
  /** Drops statistics of the caller from memory. */
  forgetCaller(caller: string): Promise<void>
  /** Writes what is pending: audit entries, traces, statistics. */
  flush(): Promise<void>
}

export interface EraseDeps {
  readonly store: FullStore
  readonly hub?: LiveHub | undefined
  readonly now?: () => number
  /** Called with the ids of the caller's keys before they are erased: other replicas may still write them for a moment. */
  onKeys?(ids: readonly string[]): Promise<void>
  /** Called after each step with everything counted so far; with the same object if the step found nothing. */
  onProgress?(counts: ErasureCounts): void | Promise<void>
}

const tasksPerBatch = 50
const entriesPerBatch = 200
/** A caller with a valid token may open tasks all the time. */
const maxPasses = 5

/** The owners of tasks that belong to the caller: itself, agents on its behalf, and its console. */
export async function ownersOf({ store }: Pick<EraseDeps, 'store'>, caller: string): Promise<readonly string[]> {
  return (await store.erasure.findOwners(caller)).filter((owner) => isOwnedBy(owner, caller))
}

/** Erases what is there now, and returns what it erased. `knownKeys`: the ids of keys that an earlier call has erased. */
export async function eraseCaller(
  deps: EraseDeps,
  caller: string,
  pseudonym: string,
  knownKeys: readonly string[] = [],
): Promise<ErasureCounts> {
  const { store, hub, onProgress, now = Date.now } = deps
  let counts = noCounts
  const add = async (more: Partial<ErasureCounts>): Promise<void> => {
    counts = addCounts(counts, more)
    await onProgress?.(counts)
  }
  // First: from now on the caller opens no tasks with them.
  const keys = await findKeys(store.kv, caller)
  const sessions = await findSessions(store.kv, caller)
  await deps.onKeys?.([...knownKeys, ...keys.map(({ id }) => id)])
  for (const { id, isActive } of keys) if (isActive) await hub?.revokeKey(id)
  const created = (): ReturnType<typeof findCreatedKeys> => findCreatedKeys(store.kv, caller, { pseudonym, now: now() })
  for (const id of (await created()).activeKeys) await hub?.revokeKey(id)
  for (const { id } of sessions) await hub?.endSession(id)
  await eraseTasks(deps, caller, add)
  await hub?.flush()
  const orphans = await store.erasure.removeOrphans()
  await add({ messageClaims: orphans.messageClaims })

  const keyIds = new Set([...knownKeys, ...keys.map(({ id }) => id)])
  const remove = async (count: keyof ErasureCounts, found: FoundEntries): Promise<void> => {
    await eraseEntries(store, found)
    await (found.found > 0 ? add({ [count]: found.found }) : onProgress?.(counts))
  }
  /** One page in memory at a time. */
  const removePages = async (count: keyof ErasureCounts, pages: AsyncIterable<FoundEntries>): Promise<void> => {
    for await (const page of pages) await remove(count, page)
  }
  // The audit before the keys: afterwards their ids are unknown.
  await removePages('auditEntries', findAuditEntries(store.kv, caller, keyIds, pseudonym))
  await removePages('traces', findTraces(store.kv, caller))
  await removePages('journalEntries', findJournalEntries(store.kv, store))
  await hub?.forgetCaller(caller)
  await removePages('counters', findCallerStats(store.kv, caller))
  await remove('journalEntries', await findAdminChanges(store.kv, caller, pseudonym))
  await remove('journalEntries', await created())
  const creatorCounters = await findCreatorCounters(store.kv, caller)
  await remove('counters', { entries: creatorCounters, replacements: [], found: creatorCounters.length })
  for (const id of keyIds) {
    const counters = await findKeyCounters(store.kv, id)
    await remove('counters', { entries: counters, replacements: [], found: counters.length })
  }
  const credentials = [...keys, ...sessions]
  await eraseEntries(store, { entries: credentials.flatMap(({ entries }) => entries), replacements: [], found: 0 })
  await add({ keys: keys.length, sessions: sessions.length })
  return counts
}

/** What an erasure would remove, as far as it is counted without reading every log. */
export async function previewErasure(
  { store, hub }: Pick<EraseDeps, 'store' | 'hub'>,
  caller: string,
): Promise<ErasureCounts> {
  await hub?.flush()
  const { kv } = store
  let counts = noCounts
  for (const owner of await ownersOf({ store }, caller)) {
    for await (const rows of taskPages(store, owner)) {
      const agentEntries = await Promise.all(rows.map((row) => findAgentEntries(kv, row)))
      const pushes = await Promise.all(rows.map(({ id }) => store.push.list(id)))
      counts = addCounts(counts, {
        tasks: rows.length,
        agentEntries: agentEntries.flat().length,
        pushConfigs: pushes.flat().length,
      })
    }
  }
  const keys = await findKeys(kv, caller)
  const keyIds = new Set(keys.map(({ id }) => id))
  const keyCounters = await Promise.all([
    findCreatorCounters(kv, caller),
    ...keys.map(({ id }) => findKeyCounters(kv, id)),
  ])
  const created = await findCreatedKeys(kv, caller, { pseudonym: '', now: 0 })
  return addCounts(counts, {
    keys: keys.length,
    sessions: (await findSessions(kv, caller)).length,
    traces: await countPages(findTraces(kv, caller)),
    counters: keyCounters.flat().length + (await countPages(findCallerStats(kv, caller))),
    auditEntries: await countPages(findAuditEntries(kv, caller, keyIds, '')),
    journalEntries: (await findAdminChanges(kv, caller, '')).found + created.found,
  })
}

async function countPages(pages: AsyncIterable<FoundEntries>): Promise<number> {
  let count = 0
  for await (const { found } of pages) count += found
  return count
}

async function* taskPages(store: FullStore, owner: string): AsyncGenerator<readonly TaskRow[]> {
  let before: { readonly statusAt: number; readonly id: string } | undefined
  for (;;) {
    const { tasks, more } = await store.tasks.search({
      owner,
      order: 'oldest',
      limit: entriesPerBatch,
      ...(before === undefined ? {} : { before }),
    })
    if (tasks.length > 0) yield tasks
    before = tasks.at(-1)
    if (!more || before === undefined) return
  }
}

async function eraseTasks(
  { store, hub }: EraseDeps,
  caller: string,
  add: (counts: Partial<ErasureCounts>) => Promise<void>,
): Promise<void> {
  for (let pass = 0; pass < maxPasses; pass += 1) {
    // Parents first: a canceled parent cancels its children, and starts no more.
    const owners = (await ownersOf({ store }, caller)).toSorted((a, b) => a.length - b.length)
    let erased = 0
    for (const owner of owners) erased += await eraseTasksOf(owner)
    // Again: a task may have been opened meanwhile.
    if (erased === 0) return
  }

  async function eraseTasksOf(owner: string): Promise<number> {
    if (hub !== undefined) for await (const rows of taskPages(store, owner)) await cancelActive(rows)
    let erased = 0
    for (;;) {
      const { tasks } = await store.tasks.search({ owner, order: 'oldest', limit: tasksPerBatch })
      if (tasks.length === 0) return erased
      await cancelActive(tasks)
      const entries = (await Promise.all(tasks.map((row) => findAgentEntries(store.kv, row)))).flat()
      const taskIds = tasks.map(({ id }) => id)
      const { entries: agentEntries, replaced: _, ...counts } = await store.erasure.erase({ taskIds, entries })
      await hub?.forget(taskIds)
      erased += counts.tasks
      await add({ ...counts, agentEntries })
    }
  }

  async function cancelActive(rows: readonly TaskRow[]): Promise<void> {
    const active = rows.filter(({ status }) => !isTerminal(status.state))
    if (hub === undefined || active.length === 0) return
    await Promise.all(active.map(({ id }) => hub.cancel(id)))
    // The index of traces reads the log: of a removed task it would find only the last records.
    await hub.flush()
  }
}

export async function eraseEntries(store: FullStore, { entries, replacements }: FoundEntries): Promise<void> {
  for (let at = 0; at < entries.length; at += entriesPerBatch)
    await store.erasure.erase({ entries: entries.slice(at, at + entriesPerBatch) })
  for (let at = 0; at < replacements.length; at += entriesPerBatch)
    await store.erasure.erase({ replacements: replacements.slice(at, at + entriesPerBatch) })
}
