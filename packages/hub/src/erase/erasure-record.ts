/**
 * The record of an erasure: while it runs, what a restarted process needs to finish it; afterwards the receipt, which no longer
 * names the caller.
 */
import { newId, type Json } from '@parley/a2a'
import type { Compaction } from '@parley/a2a/internal'
import type { KeyValueEntry, KeyValueStore } from '@parley/a2a/stores'

/** How many things of each kind were erased, or would be. */
export interface ErasureCounts {
  readonly tasks: number
  readonly logBatches: number
  readonly snapshots: number
  readonly blobs: number
  readonly pushConfigs: number
  readonly pushAttempts: number
  readonly messageClaims: number
  readonly keys: number
  readonly sessions: number
  readonly traces: number
  /** Entries of agents about the contexts of the caller. */
  readonly agentEntries: number
  /** Quota counters and times of last use. */
  readonly counters: number
  /** Audit entries whose subject was replaced by the pseudonym. */
  readonly auditEntries: number
  /** Changes in the journal, and configuration versions, that named a task or the caller. */
  readonly journalEntries: number
}

export const noCounts: ErasureCounts = {
  tasks: 0,
  logBatches: 0,
  snapshots: 0,
  blobs: 0,
  pushConfigs: 0,
  pushAttempts: 0,
  messageClaims: 0,
  keys: 0,
  sessions: 0,
  traces: 0,
  agentEntries: 0,
  counters: 0,
  auditEntries: 0,
  journalEntries: 0,
}

export function addCounts(a: ErasureCounts, b: Partial<ErasureCounts>): ErasureCounts {
  const sum = { ...a } as Record<keyof ErasureCounts, number>
  for (const [name, count] of Object.entries(b)) sum[name as keyof ErasureCounts] += count
  return sum
}

/** Copies that no erasure in the store reaches. Named in every receipt. */
export const excludedData = [
  'backups, exports and replicas of the database, and archived write-ahead logs',
  'logs of the hub, of its proxies and of the operating system',
  'exported telemetry and exported audit entries',
  'memory and files of the agents, and data at model providers',
  'remote agents and webhooks that have already received data',
  'the configuration and its earlier versions, if the operator wrote the name there',
] as const

/** `settling`: other replicas may still write what they had in memory. */
export type ErasureState = 'running' | 'settling' | 'compacting' | 'done'

export interface ErasureRecord {
  readonly id: string
  readonly state: ErasureState
  /** What replaces the caller in the audit. Random: it cannot be computed from the name. */
  readonly pseudonym: string
  /** The principal that requested it. */
  readonly requestedBy: string
  /** Milliseconds since the epoch. */
  readonly requestedAt: number
  readonly finishedAt?: number
  readonly counts: ErasureCounts
  /** Whether the store is to be compacted. */
  readonly compact: boolean
  readonly compaction?: Compaction
  /** The caller. Only while the erasure is not finished. */
  readonly caller?: string
  /** The ids of its keys. Only while the erasure is not finished. */
  readonly keyIds?: readonly string[]
  /** Until then the process that works on it is considered alive. */
  readonly heldUntil?: number
}

export interface StoredErasure {
  readonly record: ErasureRecord
  readonly version: number
}

/** Three years: how long an operator may have to prove an erasure. */
export const defaultReceiptMs = 1_095 * 86_400_000

export const erasureKind = 'erasure'

export function newErasure(given: {
  readonly caller: string
  readonly requestedBy: string
  readonly compact: boolean
  readonly now: number
}): ErasureRecord {
  const { caller, requestedBy, compact, now } = given
  return {
    id: newId(),
    state: 'running',
    pseudonym: `erased:${crypto.randomUUID()}`,
    requestedBy,
    requestedAt: now,
    counts: noCounts,
    compact,
    caller,
  }
}

export async function readErasure(kv: KeyValueStore, id: string): Promise<StoredErasure | undefined> {
  const stored = await kv.read(erasureKind, id)
  return stored && storedErasureOf(stored)
}

export function storedErasureOf({ value, version }: KeyValueEntry): StoredErasure {
  return { record: value as unknown as ErasureRecord, version }
}

export function erasureValue(record: ErasureRecord): Json {
  return JSON.parse(JSON.stringify(record)) as Json
}
