/** The entries that are listed, all of them, as a file with one on each line: asked for page by page. */
import { signal } from '@preact/signals'
import { call } from '../../../api/call.ts'
import { problemOf } from '../../../api/problem.ts'
import { tell } from '../../../app/announce.ts'
import { download } from '../../../parts/download.ts'
import { ExportButton } from '../../../parts/export-button.tsx'
import { many } from '../../../parts/words.ts'
import { askFor } from './audit-filters.ts'
import type { AuditFilters } from './audit-filters.ts'

const pageSize = 1_000
/** How many are in the file so far, while it is made. */
const made = signal<number | undefined>(undefined)
let current: AbortController | undefined

async function exportAudit(filters: AuditFilters): Promise<void> {
  const stop = new AbortController()
  current = stop
  made.value = 0
  const pieces: Blob[] = []
  const asked = askFor(filters, Date.now())
  let before: string | undefined
  try {
    do {
      const page = await call('listAudit', { query: { ...asked, limit: pageSize, before }, signal: stop.signal })
      pieces.push(new Blob(page.entries.map((entry) => `${JSON.stringify(entry)}\n`)))
      made.value += page.entries.length
      before = page.before
    } while (before !== undefined)
    download(new Blob(pieces, { type: 'application/jsonl' }), `audit-${new Date().toISOString().slice(0, 10)}.jsonl`)
    tell(`${many(made.value, 'entry', 'entries')} exported`)
  } catch (reason) {
    tell(stop.signal.aborted ? 'Export stopped' : `The export failed: ${problemOf(reason).message}`)
  }
  made.value = undefined
}

export function ExportAudit({ filters }: { readonly filters: AuditFilters }) {
  return <ExportButton made={made.value} onStart={() => void exportAudit(filters)} onStop={() => current?.abort()} />
}
