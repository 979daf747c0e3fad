/** Runs `parley prune`. */
import { formatSize } from '@parley/cli/internal'
import { estimateToJson } from '../../admin/routes/erasures.ts'
import type { RetentionConfig } from '../../config/sections/limits.ts'
import { createRetentionService } from '../../retention/retention-service.ts'
import { requestAdmin } from '../admin-request.ts'
import { readConfig, sectionOf } from '../cli-settings.ts'
import type { Flags, Terminal } from '../command.ts'
import { printResult, tableLines } from '../output.ts'
import { openOwnStore } from './store-target.ts'

type EstimateJson = ReturnType<typeof estimateToJson>

export async function runPrune(flags: Flags, terminal: Terminal): Promise<number> {
  const isDryRun = flags.has('dry-run')
  const estimates = await estimatesOf(flags, terminal, isDryRun)
  printResult(flags, terminal, { isDryRun, estimates }, () => lines(terminal, estimates, isDryRun))
  return 0
}

async function estimatesOf(flags: Flags, terminal: Terminal, isDryRun: boolean): Promise<readonly EstimateJson[]> {
  const store = await openOwnStore(flags, terminal)
  if (store === undefined) {
    const method = isDryRun ? 'GET' : 'POST'
    return (await requestAdmin<{ estimates: EstimateJson[] }>(flags, terminal, method, '/admin/prune')).estimates
  }
  try {
    // A directory alone has no settings: only what has expired goes. The configuration may keep the audit for longer than the default.
    const settings: RetentionConfig =
      flags.value('config') === undefined
        ? { audit: Infinity }
        : sectionOf(await readConfig(flags, terminal), 'retention')
    const log = { warn: (message: string) => terminal.printError(message) }
    const service = createRetentionService({ store, settings: () => settings, log, now: Date.now })
    return (await (isDryRun ? service.preview() : service.prune())).map(estimateToJson)
  } finally {
    await store.close()
  }
}

function lines(terminal: Terminal, estimates: readonly EstimateJson[], isDryRun: boolean): readonly string[] {
  if (estimates.length === 0) return ['Nothing is older than the retention settings allow.']
  const rows = estimates.map(({ kind, entryKind, rows: count, bytes, ...times }) => [
    entryKind ?? kind,
    String(count),
    formatSize(bytes),
    'oldest' in times ? times.oldest : '',
    'newest' in times ? times.newest : '',
  ])
  const verb = isDryRun ? 'Would be removed:' : 'Removed:'
  return [verb, ...tableLines(terminal, ['KIND', 'ROWS', 'BYTES', 'OLDEST', 'NEWEST'], rows)]
}
