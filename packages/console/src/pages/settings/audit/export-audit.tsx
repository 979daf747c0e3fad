/** Exports all matching audit entries as JSON Lines, page by page. */
import { signal } from '@preact/signals'
import { callAdmin } from '../../../api/admin-client.ts'
import { toProblem } from '../../../api/problem.ts'
import { showToast } from '../../../app/announce.ts'
import { download } from '../../../components/content/download.ts'
import { ExportButton } from '../../../components/list/export-button.tsx'
import { pluralize } from '../../../components/format.ts'
import { auditListQuery } from './audit-filters.ts'
import type { AuditFilters } from './audit-filters.ts'

const pageSize = 1_000
/** The number of entries exported so far, while an export runs. */
const exportedCount = signal<number | undefined>(undefined)
let current: AbortController | undefined

async function exportAudit(filters: AuditFilters): Promise<void> {
  const stop = new AbortController()
  current = stop
  exportedCount.value = 0
  const pieces: Blob[] = []
  const asked = auditListQuery(filters, Date.now())
  let before: string | undefined
  try {
    do {
      const page = await callAdmin('listAudit', { query: { ...asked, limit: pageSize, before }, signal: stop.signal })
      pieces.push(new Blob(page.entries.map((entry) => `${JSON.stringify(entry)}\n`)))
      exportedCount.value += page.entries.length
      before = page.before
    } while (before !== undefined)
    download(new Blob(pieces, { type: 'application/jsonl' }), `audit-${new Date().toISOString().slice(0, 10)}.jsonl`)
    showToast(`${pluralize(exportedCount.value, 'entry', 'entries')} exported`)
  } catch (reason) {
    showToast(stop.signal.aborted ? 'Export stopped' : `The export failed: ${toProblem(reason).message}`)
  }
  exportedCount.value = undefined
}

export function ExportAudit({ filters }: { readonly filters: AuditFilters }) {
  return (
    <ExportButton
      made={exportedCount.value}
      onStart={() => void exportAudit(filters)}
      onStop={() => current?.abort()}
    />
  )
}
