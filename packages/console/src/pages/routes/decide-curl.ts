/** The dry run as a curl command. The key is a variable, never its value. */
import { shellQuote } from '../../components/shell/curl.ts'
import { decideRouteBody } from './dry-run.ts'
import type { DryRun } from './dry-run.ts'

export function decideRouteCurl(origin: string, run: DryRun): string {
  return [
    `curl -X POST ${shellQuote(`${origin}/admin/routes/decide`)}`,
    '  -H "Authorization: Bearer $PARLEY_ADMIN_KEY" -H \'Content-Type: application/json\'',
    `  -d ${shellQuote(JSON.stringify(decideRouteBody(run)))}`,
  ].join(' \\\n')
}
