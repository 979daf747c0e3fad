/** The tasks that are listed, all of them, as a file: asked for page by page, so that a hundred thousand do not fill the page. */
import { signal } from '@preact/signals'
import { call } from '../../api/call.ts'
import { problemOf } from '../../api/problem.ts'
import { tell } from '../../app/announce.ts'
import { download } from '../../parts/download.ts'
import { ExportButton } from '../../parts/export-button.tsx'
import { many } from '../../parts/words.ts'
import { askFor } from './task-filters.ts'
import type { TaskFilters } from './task-filters.ts'

const pageSize = 500
/** How many are in the file so far, while it is made. */
const made = signal<number | undefined>(undefined)
let current: AbortController | undefined

export async function exportTasks(filters: TaskFilters): Promise<void> {
  if (made.peek() !== undefined) return
  const stop = new AbortController()
  current = stop
  made.value = 0
  try {
    const pieces = await pagesOf(filters, stop.signal)
    download(new Blob(pieces, { type: 'application/json' }), `tasks-${new Date().toISOString().slice(0, 10)}.json`)
    tell(`${many(made.peek() ?? 0, 'task')} exported`)
  } catch (reason) {
    tell(stop.signal.aborted ? 'Export stopped' : `The export failed: ${problemOf(reason).message}`)
  }
  made.value = undefined
}

/** Each page is a blob of its own, which the browser may keep on disk. */
async function pagesOf(filters: TaskFilters, signal: AbortSignal): Promise<readonly Blob[] & BlobPart[]> {
  const asked = askFor(filters, Date.now())
  const pieces: Blob[] = [new Blob(['[\n'])]
  let before: string | undefined
  do {
    const query = { ...asked, limit: pageSize, ...(before === undefined ? {} : { before }) }
    const page = await call('listTasks', { query, signal })
    const lines = page.tasks.map((task) => JSON.stringify(task)).join(',\n')
    const isFirst = made.value === 0
    if (lines !== '') pieces.push(new Blob([isFirst ? '' : ',\n', lines]))
    made.value = (made.value ?? 0) + page.tasks.length
    before = page.before
  } while (before !== undefined)
  return [...pieces, new Blob(['\n]\n'])]
}

export function ExportTasks({ filters }: { readonly filters: TaskFilters }) {
  return <ExportButton made={made.value} onStart={() => void exportTasks(filters)} onStop={() => current?.abort()} />
}
