/**
 * Checks a whole store at one moment, while hubs may use it: every log folds to its snapshot and its row, what belongs together is
 * there, and what the database counts and indexes is right. The store checks its tables, entry-check.ts the entries. Memory is
 * bounded by the fold of one task.
 */
import type { StoreDamage, StoreFinding, StoreReader } from '@parley/a2a/internal'
import { createEntryCheck } from './entry-check.ts'
import { createFindingCollector, type VerifyReport } from './finding-report.ts'

export interface VerifyOptions {
  /** Unwraps the keys of the keyring. Without it they are not checked. */
  readonly masterKey?: Uint8Array | undefined
  /** Called before each check of the tables. */
  onTable?(name: string): void
  /** Called with the number of tasks that were checked so far. */
  onTasks?(done: number): void
  readonly monotonicNow?: () => number
}

/** Tasks between two calls of `onTasks`. */
const progressEvery = 500

export async function verifyStore(reader: StoreReader, options: VerifyOptions = {}): Promise<VerifyReport> {
  const { masterKey, onTable, onTasks, monotonicNow = () => performance.now() } = options
  const startedAt = monotonicNow()
  const findings = createFindingCollector()
  for await (const name of reader.checkTables(findings.add)) onTable?.(name)

  let snapshotSeq: number | undefined
  const check = createEntryCheck(findings, masterKey === undefined ? [] : [masterKey])
  const entries = reader.entries({
    onDamage: (damage) => findings.add(findingOf(damage)),
    onSnapshot: (seq) => void (snapshotSeq = seq),
  })
  for await (const entry of entries) {
    const checking = check.add(entry, snapshotSeq)
    if (checking instanceof Promise) await checking
    if (entry.type !== 'task') continue
    snapshotSeq = undefined
    if (check.read.tasks % progressEvery === 0) onTasks?.(check.read.tasks)
  }
  check.finish()
  return {
    isHealthy: findings.findings.length === 0,
    store: reader.kind,
    schema: reader.schemaVersion,
    ...check.read,
    hasCheckedKeys: masterKey !== undefined,
    counts: findings.counts,
    findings: findings.findings,
    durationMs: Math.round(monotonicNow() - startedAt),
  }
}

function findingOf({ taskId, table, message }: StoreDamage): StoreFinding {
  if (table === undefined) return { kind: 'index', table: 'database', message, ...(taskId && { taskId }) }
  if (taskId === undefined) return { kind: 'orphan', table, message }
  return { kind: table === 'blobs' ? 'blob' : 'log', table, taskId, message }
}
