/** The same question for a terminal. The key is named, never shown. */
import { quoted } from '../tasks/as-curl.ts'
import { bodyOf } from './dry-run.ts'
import type { DryRun } from './dry-run.ts'

export function decideCurl(origin: string, run: DryRun): string {
  return [
    `curl -X POST ${quoted(`${origin}/admin/routes/decide`)}`,
    '  -H "Authorization: Bearer $PARLEY_ADMIN_KEY" -H \'Content-Type: application/json\'',
    `  -d ${quoted(JSON.stringify(bodyOf(run)))}`,
  ].join(' \\\n')
}
