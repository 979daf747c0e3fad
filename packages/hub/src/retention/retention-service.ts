/**
 * Retention of a hub. The engine prunes tasks, logs and deliveries, and the store removes expired entries. This part does the rest:
 * entries that a shorter setting makes too old before they expire, a preview of what would go, and a prune on request.
 */
import type { AgentLog } from '@parley/a2a'
import type { EntryAddress, PruneEstimate, PruneKind, Retention } from '@parley/a2a/internal'
import type { FullStore } from '@parley/a2a/stores'
import type { AuditEntry } from '../audit/audit-log.ts'
import { defaultAuditMs } from '../auth/access-control.ts'
import type { RetentionConfig } from '../config/sections/limits.ts'
import { entriesOf } from '../erase/caller-data.ts'
import { traceEntryFrom, traceEntryKeys, traceIndexKind } from '../telemetry/traces/trace-summary.ts'

/** What would be removed of one kind, or was. */
export interface RetentionEstimate extends Omit<PruneEstimate, 'kind'> {
  readonly kind: PruneKind | 'audit' | 'traces'
}

export interface RetentionService {
  /** Counts what is too old by the current settings. Changes nothing. */
  preview(): Promise<readonly RetentionEstimate[]>
  /** Removes it now. Returns what was counted before. */
  prune(): Promise<readonly RetentionEstimate[]>
  /** Starts to remove entries that a shorter setting has made too old. */
  start(): void
  close(): Promise<void>
}

export interface RetentionServiceDeps {
  readonly store: FullStore
  /** The current settings. */
  settings(): RetentionConfig
  /** Drops finished tasks from the memory of the engine: the store may have removed them. */
  evictFinished?(): Promise<void>
  readonly log: Pick<AgentLog, 'warn'>
  readonly now: () => number
}

const everyMs = 600_000
const tasksPerBatch = 100
const entriesPerBatch = 200

/** The rules of the settings for the store, at this time. */
export function retentionAt(
  { finished, max, log, deliveries }: RetentionConfig,
  now: number,
): Omit<Retention, 'batch'> {
  return {
    ...(finished !== undefined ? { finishedBefore: now - finished } : {}),
    ...(max !== undefined ? { maxTasks: max } : {}),
    ...(log !== undefined ? { logBefore: now - log } : {}),
    ...(deliveries !== undefined ? { deliveriesBefore: now - deliveries } : {}),
  }
}

/** How long traces are kept; `undefined`: as long as their tasks. */
export function traceRetentionMs({ finished, traces }: RetentionConfig): number | undefined {
  return traces === undefined ? finished : Math.min(traces, finished ?? Infinity)
}

export function createRetentionService(deps: RetentionServiceDeps): RetentionService {
  const { store, log, now } = deps
  let timer: ReturnType<typeof setInterval> | undefined
  let trimming: Promise<unknown> = Promise.resolve()

  async function preview(): Promise<readonly RetentionEstimate[]> {
    const settings = deps.settings()
    const ofStore = await store.previewPrune(retentionAt(settings, now()))
    const old = await findOld(settings)
    return [...ofStore, ...old.flatMap(({ estimate }) => (estimate.rows === 0 ? [] : [estimate]))]
  }

  async function findOld(settings: RetentionConfig): Promise<readonly OldEntries[]> {
    const traceMs = traceRetentionMs(settings)
    return [
      await oldAudit(store, now() - (settings.audit ?? defaultAuditMs)),
      ...(traceMs === undefined ? [] : [await oldTraces(store, now() - traceMs)]),
    ]
  }

  async function trim(): Promise<void> {
    for (const { addresses } of await findOld(deps.settings()))
      for (let at = 0; at < addresses.length; at += entriesPerBatch)
        await store.erasure.erase({ entries: addresses.slice(at, at + entriesPerBatch) })
  }

  return {
    preview,
    async prune() {
      const estimates = await preview()
      const retention = retentionAt(deps.settings(), now())
      while ((await store.prune({ ...retention, batch: tasksPerBatch })) >= tasksPerBatch);
      await deps.evictFinished?.()
      await trim()
      return estimates
    },
    start() {
      timer ??= setInterval(() => {
        trimming = trim().catch((cause: unknown) => log.warn('old entries could not be removed', { cause }))
      }, everyMs).unref()
    },
    async close() {
      clearInterval(timer)
      await trimming
    },
  }
}

interface OldEntries {
  readonly addresses: readonly EntryAddress[]
  readonly estimate: RetentionEstimate
}

function createTally(kind: RetentionEstimate['kind']) {
  const addresses: EntryAddress[] = []
  let [rows, bytes, oldest, newest] = [0, 0, Infinity, -Infinity]
  return {
    add(found: readonly EntryAddress[], value: unknown, at: number, count = 1): void {
      addresses.push(...found)
      rows += count
      bytes += JSON.stringify(value).length
      oldest = Math.min(oldest, at)
      newest = Math.max(newest, at)
    },
    result: (): OldEntries => ({
      addresses,
      estimate: { kind, rows, bytes, ...(rows > 0 ? { oldest, newest } : {}) },
    }),
  }
}

/** Batches are ordered by time: the first young one is the end. */
async function oldAudit({ kv }: Pick<FullStore, 'kv'>, before: number): Promise<OldEntries> {
  const tally = createTally('audit')
  for await (const { key, value } of entriesOf(kv, 'audit')) {
    const entries = value as unknown as readonly AuditEntry[]
    const at = entries.at(-1)?.at ?? 0
    if (at >= before) break
    tally.add([{ kind: 'audit', key }], value, at, entries.length)
  }
  return tally.result()
}

/** Ids of tasks are ordered by time. A task that still runs keeps its trace. */
async function oldTraces({ kv }: Pick<FullStore, 'kv'>, before: number): Promise<OldEntries> {
  const kind = `telemetry/${traceIndexKind}`
  const tally = createTally('traces')
  for (const prefix of ['root/', 'child/']) {
    for await (const entry of entriesOf(kv, kind, prefix)) {
      const note = traceEntryFrom(entry)
      if (note === undefined) continue
      if (note.startedAt >= before) break
      if (note.endedAt === undefined || note.endedAt >= before) continue
      const keys = traceEntryKeys(entry.key.slice(prefix.length), note)
      tally.add(
        keys.map((key) => ({ kind, key })),
        entry.value,
        note.endedAt,
      )
    }
  }
  return tally.result()
}
