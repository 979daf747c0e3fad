/**
 * Exports the audit log to a sink, entry by entry as JSON lines, at least once and in order. The cursor is stored after the sink has
 * accepted the entries: a process that is killed in between sends them again. One process exports to a sink at a time. If the sink
 * fails, it is retried after ever longer pauses, and nothing is skipped.
 */
import { backoffMs } from '@parley/a2a/internal'
import { operatorMessage } from '../json/operator-message.ts'
import type { AgentLog } from '@parley/a2a'
import type { KeyValueStore } from '@parley/a2a/stores'
import type { ListedAuditEntry } from './audit-log.ts'
import type { AuditReader } from './audit-reader.ts'

/** Where audit entries go. */
export interface AuditSink {
  readonly name: string
  /** Resolves when the entries cannot be lost any more. */
  write(batch: AuditLines, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

export interface AuditLines {
  /** JSON lines, each with a line break. */
  readonly text: string
  readonly count: number
  /** The id of the first entry: the same batch has the same id when it is sent again. */
  readonly id: string
}

export interface AuditExportStatus {
  readonly name: string
  /** How long the oldest entry that is not exported waits. 0: all are exported. */
  readonly lagMs: number
  /** Entries that this process exported, also repeated ones. */
  readonly exported: number
  /** Failed attempts of this process. */
  readonly failures: number
  /** Why the last attempt of this process failed; absent after a success. */
  readonly trouble?: string
}

export interface AuditExport {
  status(): Promise<AuditExportStatus>
  /** Exports what is recorded, tries a failing sink once more, and ends. */
  close(): Promise<void>
}

export interface AuditExportDeps {
  readonly kv: KeyValueStore
  readonly reader: AuditReader
  readonly sink: AuditSink
  readonly lease: { acquire(): Promise<boolean>; isHeld(): boolean; release(): Promise<void> }
  readonly now: () => number
  readonly log: Pick<AgentLog, 'warn' | 'info'>
  /** How often new entries are looked for. Default 1 s. */
  readonly intervalMs?: number | undefined
  /** Between 0 and 1, for the jitter of pauses. Default `Math.random`. */
  readonly random?: (() => number) | undefined
}

export const auditExportKind = 'audit-export'
const entriesPerBatch = 500
const firstPauseMs = 1_000
const longestPauseMs = 300_000
/** How long one write may take: less than the lease of the export lives. */
const writeTimeoutMs = 10_000

export function createAuditExport(deps: AuditExportDeps): AuditExport {
  const { kv, reader, sink, lease, now, log, intervalMs = 1_000 } = deps
  const closing = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  let running: Promise<void> | undefined
  let [exported, failures, failuresInRow] = [0, 0, 0]
  let trouble: string | undefined
  schedule(intervalMs)

  function schedule(afterMs: number): void {
    if (!closing.signal.aborted) timer = setTimeout(() => void run(), afterMs).unref()
  }

  async function run(): Promise<void> {
    running = round()
    await running
    running = undefined
    schedule(failuresInRow === 0 ? intervalMs : backoffMs(failuresInRow, firstPauseMs, longestPauseMs, deps.random))
  }

  async function round(): Promise<void> {
    try {
      if (!(await lease.acquire())) return
      while (await exportBatch());
      if (failuresInRow > 0) log.info('the audit is exported again', { sink: sink.name })
      failuresInRow = 0
      trouble = undefined
    } catch (cause) {
      failures += 1
      failuresInRow += 1
      trouble = operatorMessage(cause)
      // Once per outage.
      if (failuresInRow === 1)
        log.warn('the audit cannot be exported now; it will be later', { sink: sink.name, cause })
    }
  }

  /** Returns whether there is more. */
  async function exportBatch(): Promise<boolean> {
    const stored = await kv.read(auditExportKind, sink.name)
    const from = cursorOf(stored?.value) ?? reader.start()
    const { entries, cursor, isEnd } = await reader.read(from, entriesPerBatch)
    const [first] = entries
    if (first !== undefined) {
      const text = entries.map(auditLine).join('')
      const timeout = new AbortController()
      const limit = setTimeout(() => timeout.abort(new Error('the sink did not respond within 10 s')), writeTimeoutMs)
      try {
        await sink.write({ text, count: entries.length, id: first.id }, timeout.signal)
      } finally {
        clearTimeout(limit)
      }
      exported += entries.length
    }
    if (cursor !== from) {
      // Another process may have taken over meanwhile: it has a cursor of its own, and sends these entries again.
      const value = { cursor, at: now() }
      const written = await kv.write(auditExportKind, { key: sink.name, value }, stored?.version ?? 0)
      if (written === undefined) return false
    }
    return !isEnd && !closing.signal.aborted && (await lease.acquire())
  }

  return {
    async status() {
      const cursor = cursorOf((await kv.read(auditExportKind, sink.name))?.value) ?? reader.start()
      const oldest = await reader.oldestAfter(cursor)
      const lagMs = oldest === undefined ? 0 : Math.max(0, now() - oldest)
      return { name: sink.name, lagMs, exported, failures, ...(trouble === undefined ? {} : { trouble }) }
    },
    async close() {
      if (closing.signal.aborted) return
      clearTimeout(timer)
      await running
      await round()
      closing.abort()
      clearTimeout(timer)
      await sink.close()
      await lease.release().catch(() => {})
    },
  }
}

/** One entry as it is exported: its id first, and its time as a timestamp. */
export function auditLine({ id, at, ...rest }: ListedAuditEntry): string {
  return `${JSON.stringify({ id, at: new Date(at).toISOString(), ...rest })}\n`
}

function cursorOf(value: unknown): string | undefined {
  const cursor = typeof value === 'object' && value !== null && 'cursor' in value ? value.cursor : undefined
  return typeof cursor === 'string' ? cursor : undefined
}
