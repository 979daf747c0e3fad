/** The checksums of logs and snapshots: computed by the writer of a row, so that a changed letter is noticed. */
import { crc32 } from 'node:zlib'
import type { ReportDamage } from './task-groups.ts'

/** The CRC-32 of texts, as if they were one, in UTF-8. */
export function textChecksum(...texts: readonly string[]): number {
  return texts.reduce((sum, text) => crc32(text, sum), 0)
}

/** `what` is a phrase for the operator. */
export type ChecksumCheck = (stored: number, texts: readonly string[], what: string) => void

export function createChecksumCheck(report: ReportDamage): ChecksumCheck {
  return (stored, texts, what) => {
    if (stored !== textChecksum(...texts)) report(`The text of ${what} was changed after it was written`)
  }
}
