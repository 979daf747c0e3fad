/** The work of `parley verify`. It only reads, so Ctrl-C may end it at any time, also during a long check of the database. */
import { verifyStore } from '../../verify/verify-store.ts'
import { findingText, type VerifyReport } from '../../verify/finding-report.ts'
import { exitCodes, type Flags, type Terminal } from '../command.ts'
import { counted, printResult, styled } from '../output.ts'
import { createProgress } from '../progress.ts'
import { readStoreSettings } from '../store-location.ts'
import { withOperatorErrors, wholeStore } from './whole-store.ts'
import { openWithMasterKey } from './wrapping-master-key.ts'

export async function verify(flags: Flags, terminal: Terminal): Promise<number> {
  const settings = await readStoreSettings(flags, terminal)
  const report = await withOperatorErrors(async () => {
    const store = await wholeStore(settings)
    const { reader, masterKey } = await openWithMasterKey(store)
    const { task: total } = await reader.count()
    const tables = createProgress(terminal, { label: 'Checking the tables' })
    const tasks = createProgress(terminal, { label: 'Checking the tasks', total })
    try {
      return await verifyStore(reader, {
        masterKey,
        onTable: (name) => tables.update(0, name),
        onTasks(done) {
          tables.clear()
          tasks.update(done, `${done} tasks`)
        },
      })
    } finally {
      tables.clear()
      tasks.clear()
      await reader.close()
    }
  })
  printResult(flags, terminal, report, () => reportLines(report, terminal))
  return report.isHealthy ? 0 : exitCodes.failure
}

function reportLines(report: VerifyReport, terminal: Terminal): readonly string[] {
  const { findings, counts, tasks, records, blobs, hasCheckedKeys, durationMs } = report
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const lines = findings.map((finding) => `${styled(terminal, 'red', finding.kind.padEnd(9))}  ${findingText(finding)}`)
  if (total > findings.length) lines.push(`… and ${total - findings.length} more: ${countText(counts)}`)
  const read = `${counted(tasks, 'task')}, ${counted(records, 'record')} and ${counted(blobs, 'blob')} in ${(durationMs / 1_000).toFixed(1)} s`
  lines.push(
    total === 0
      ? `${styled(terminal, 'green', 'The store is healthy')}: ${read}.`
      : `${styled(terminal, 'red', counted(total, 'finding'))}: ${read}.`,
  )
  if (!hasCheckedKeys) lines.push('The keys of the keyring were not checked: the master key is not given.')
  return lines
}

function countText(counts: VerifyReport['counts']): string {
  return Object.entries(counts)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ')
}
