/** What removes data in a running hub: retention, and erasures on request. */
import type { AgentLog } from '@parley/a2a'
import type { FullStore } from '@parley/a2a/stores'
import { systemClock } from '@parley/a2a/internal'
import type { Handler } from '@parley/a2a/server'
import type { AccessControl } from '../auth/access-control.ts'
import type { RetentionConfig } from '../config/sections/limits.ts'
import { createErasedTasks, type ErasedTasks } from '../erase/erased-tasks.ts'
import { defaultReceiptMs } from '../erase/erasure-record.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { createErasureService, type ErasureService } from '../erase/erasure-service.ts'
import { createLiveHub } from '../erase/live-hub.ts'
import { createRetentionService, type RetentionService } from './retention-service.ts'

export interface DataRemovalDeps {
  readonly store: FullStore
  readonly access: AccessControl
  readonly telemetry: Pick<Telemetry, 'flushTraces' | 'stats'>
  /** The current settings. */
  settings(): RetentionConfig
  readonly log: AgentLog
}

export interface DataRemoval {
  readonly erasures: ErasureService
  readonly erasedTasks: ErasedTasks
  readonly retention: RetentionService
  /** Continues interrupted erasures, and begins to remove old entries. */
  start(): void
  close(): Promise<void>
}

/** `handler` resolves when the hub has started. */
export function openDataRemoval(handler: Promise<Handler>, deps: DataRemovalDeps): DataRemoval {
  const { store, access, telemetry, settings, log } = deps
  const erasedTasks = createErasedTasks()
  const erasures = createErasureService({
    store,
    hub: createLiveHub({
      access,
      handler: () => handler,
      flushTraces: telemetry.flushTraces,
      stats: telemetry.stats,
      erasedTasks,
    }),
    audit: access.audit,
    log,
    receiptMs: () => settings().erasures ?? defaultReceiptMs,
    ...systemClock,
  })
  const retention = createRetentionService({
    store,
    settings,
    evictFinished: async () => (await handler).engine.tasks.evictFinished(),
    log,
    ...systemClock,
  })
  return {
    erasures,
    erasedTasks,
    retention,
    start() {
      erasures.start()
      retention.start()
    },
    async close() {
      await Promise.all([erasures.close(), retention.close()])
    },
  }
}
