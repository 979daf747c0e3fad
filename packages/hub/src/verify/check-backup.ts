/**
 * Checks what a backup contains while it is read: that each log is whole and ends where its task says, that no append is behind the
 * position of the backup, that blobs have their digests, and that the keys can be unwrapped. The checksums of the file only show that
 * it is the one that was written.
 */
import type { DumpEntry, DumpSummary, StoreFinding } from '@parley/a2a/internal'
import { createBlobCheck, createEntryCheck } from './entry-check.ts'
import { createFindingCollector } from './finding-report.ts'

export interface BackupCheck {
  /** Before the first entry: one of these master keys unwraps each key. Without any, the keys are not checked. */
  useMasterKeys(masterKeys: readonly Uint8Array[]): void
  add(entries: readonly DumpEntry[]): Promise<void>
  /** After the last entry. Returns the first findings of each kind. */
  finish(summary: Pick<DumpSummary, 'position'>): readonly StoreFinding[]
}

export function createBackupCheck(): BackupCheck {
  const findings = createFindingCollector()
  const masterKeys: Uint8Array[] = []
  const check = createEntryCheck(findings, masterKeys)
  const blobs = createBlobCheck(findings)

  return {
    useMasterKeys: (given) => void masterKeys.push(...given),
    async add(entries) {
      for (const entry of entries) {
        blobs.add(entry)
        const checking = check.add(entry)
        if (checking instanceof Promise) await checking
      }
    },
    finish({ position }) {
      check.finish()
      blobs.finish()
      if (check.lastPosition > position) {
        const message = `An append has position ${check.lastPosition}, and the backup ends at ${position}`
        findings.add({ kind: 'feed', table: 'log', message })
      }
      return findings.findings
    },
  }
}
