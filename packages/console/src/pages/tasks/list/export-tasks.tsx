/** Exports all matching tasks to a file, page by page, so that a hundred thousand tasks do not fill the memory of the page. */
import { signal } from '@preact/signals'
import { callAdmin } from '../../../api/admin-client.ts'
import { toProblem } from '../../../api/problem.ts'
import { showToast } from '../../../app/announce.ts'
import { download } from '../../../components/content/download.ts'
import { ExportButton } from '../../../components/list/export-button.tsx'
import { pluralize } from '../../../components/format.ts'
import { taskListQuery } from './task-filters.ts'
import type { TaskFilters } from './task-filters.ts'

const pageSize = 500
/** The number of tasks exported so far, while an export runs. */
const exportedCount = signal<number | undefined>(undefined)
let current: AbortController | undefined

export async function exportTasks(filters: TaskFilters): Promise<void> {
  if (exportedCount.peek() !== undefined) return
  const stop = new AbortController()
  current = stop
  exportedCount.value = 0
  try {
    const pieces = await exportPages(filters, stop.signal)
    download(new Blob(pieces, { type: 'application/json' }), `tasks-${new Date().toISOString().slice(0, 10)}.json`)
    showToast(`${pluralize(exportedCount.peek() ?? 0, 'task')} exported`)
  } catch (reason) {
    showToast(stop.signal.aborted ? 'Export stopped' : `The export failed: ${toProblem(reason).message}`)
  }
  exportedCount.value = undefined
}

/** Each page is a blob of its own, which the browser may keep on disk. */
async function exportPages(filters: TaskFilters, signal: AbortSignal): Promise<readonly Blob[] & BlobPart[]> {
  const asked = taskListQuery(filters, Date.now())
  const pieces: Blob[] = [new Blob(['[\n'])]
  let before: string | undefined
  do {
    const query = { ...asked, limit: pageSize, ...(before === undefined ? {} : { before }) }
    const page = await callAdmin('listTasks', { query, signal })
    const lines = page.tasks.map((task) => JSON.stringify(task)).join(',\n')
    const isFirst = exportedCount.value === 0
    if (lines !== '') pieces.push(new Blob([isFirst ? '' : ',\n', lines]))
    exportedCount.value = (exportedCount.value ?? 0) + page.tasks.length
    before = page.before
  } while (before !== undefined)
  return [...pieces, new Blob(['\n]\n'])]
}

export function ExportTasks({ filters }: { readonly filters: TaskFilters }) {
  return (
    <ExportButton
      made={exportedCount.value}
      onStart={() => void exportTasks(filters)}
      onStop={() => current?.abort()}
    />
  )
}
