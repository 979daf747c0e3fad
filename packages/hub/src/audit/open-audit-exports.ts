/** The exports of the audit that the configuration lists. */
import { resolve } from 'node:path'
import type { AgentLog } from '@parley/a2a'
import type { Store } from '@parley/a2a/stores'
import { guardedFetch } from '@parley/a2a/node'
import { clockOf } from '@parley/a2a/internal'
import { createReaderLease } from '../store/reader-lease.ts'
import { auditExportKind, createAuditExport, type AuditExportStatus, type AuditSink } from './audit-export.ts'
import { auditFileSink } from './audit-file-sink.ts'
import { createAuditReader, type AuditReader } from './audit-reader.ts'
import { auditWebhookSink } from './audit-webhook-sink.ts'
import { writeCompletely } from './write-completely.ts'

/** One sink, as it is configured. */
export type AuditSinkSettings =
  | { readonly name: string; readonly file: string }
  | { readonly name: string; readonly stdout: true }
  | {
      readonly name: string
      readonly url: string
      readonly headers: Readonly<Record<string, string>>
      readonly secret?: string | undefined
      /** Private hosts and ranges that the webhook may use. */
      readonly allow: readonly string[]
    }

export interface AuditExportsConfig {
  readonly audit: { readonly export: readonly AuditSinkSettings[] }
  /** The directory against which relative paths are resolved. */
  readonly baseDir: string
}

export interface AuditExportsDeps {
  readonly store: Pick<Store, 'kv' | 'leaseTtlMs'>
  readonly log: Pick<AgentLog, 'warn' | 'info'>
  /** Writes to the standard output, and rejects if that fails. Default: that of the process. */
  readonly print?: ((text: string) => void | Promise<void>) | undefined
  readonly now: () => number
  /** Default: `now`. */
  readonly monotonicNow?: () => number
}

export interface AuditExports {
  readonly reader: AuditReader
  status(): Promise<readonly AuditExportStatus[]>
  close(): Promise<void>
}

export function openAuditExports({ audit, baseDir }: AuditExportsConfig, deps: AuditExportsDeps): AuditExports {
  const { store, log, now } = deps
  const { kv } = store
  const isShared = Number.isFinite(store.leaseTtlMs)
  const clock = clockOf(deps)
  const reader = createAuditReader({ kv, isShared, now })
  const exports = audit.export.map((settings) =>
    createAuditExport({
      kv,
      reader,
      sink: sinkOf(settings, baseDir, deps),
      lease: createReaderLease({ kv, kind: auditExportKind, key: `lease/${settings.name}`, isShared, ...clock }),
      log,
      now,
    }),
  )
  return {
    reader,
    status: () => Promise.all(exports.map(({ status }) => status())),
    async close() {
      await Promise.all(exports.map(({ close }) => close()))
    },
  }
}

function sinkOf(
  settings: AuditSinkSettings,
  baseDir: string,
  { print = printOutput, now }: AuditExportsDeps,
): AuditSink {
  const { name } = settings
  if ('file' in settings) return auditFileSink(name, resolve(baseDir, settings.file))
  if ('stdout' in settings) return stdoutSink(name, print)
  // The operator chose the URL, so it may be one without TLS; private addresses must be allowed by name.
  return auditWebhookSink(settings, { fetch: guardedFetch({ allowHttp: true, allow: settings.allow }), now })
}

/** After a failure, a part of a line may be written: the next batch begins on a line of its own. */
function stdoutSink(name: string, print: (text: string) => void | Promise<void>): AuditSink {
  let hasFailed = false
  return {
    name,
    async write({ text }) {
      const lines = hasFailed ? `\n${text}` : text
      hasFailed = true
      await print(lines)
      hasFailed = false
    },
    async close() {},
  }
}

function printOutput(text: string): Promise<void> {
  return writeCompletely(process.stdout, text)
}
