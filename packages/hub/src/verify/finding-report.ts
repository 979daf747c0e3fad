/** The findings of a check, bounded: a damaged store may have millions, and the first ones tell what to do. */
import type { StoreFinding, StoreFindingKind } from '@parley/a2a/internal'

/** What `parley verify -o json` prints. */
export interface VerifyReport {
  readonly isHealthy: boolean
  readonly store: 'sqlite' | 'postgres'
  /** The number of the newest migration of the schema. */
  readonly schema: number
  /** What was read. */
  readonly tasks: number
  readonly records: number
  readonly blobs: number
  /** Whether the keys of the keyring were unwrapped: false without the master key. */
  readonly hasCheckedKeys: boolean
  /** The number of all findings, by kind. */
  readonly counts: Readonly<Partial<Record<StoreFindingKind, number>>>
  /** The first findings of each kind. */
  readonly findings: readonly StoreFinding[]
  readonly durationMs: number
}

/** Where a finding is, and what it says. */
export function findingText({ table, taskId, seq, message }: StoreFinding): string {
  const place = [
    table,
    ...(taskId === undefined ? [] : [`task ${taskId}`]),
    ...(seq === undefined ? [] : [`seq ${seq}`]),
  ]
  return `${place.join(', ')}: ${message.replace(/\.$/, '')}.`
}

/** Findings kept for each kind. */
const maxPerKind = 25

export interface FindingCollector {
  add(finding: StoreFinding): void
  readonly counts: VerifyReport['counts']
  readonly findings: readonly StoreFinding[]
}

export function createFindingCollector(): FindingCollector {
  const counts: Partial<Record<StoreFindingKind, number>> = {}
  const findings: StoreFinding[] = []
  return {
    add(finding) {
      const count = (counts[finding.kind] ?? 0) + 1
      counts[finding.kind] = count
      if (count <= maxPerKind) findings.push(finding)
    },
    counts,
    findings,
  }
}
