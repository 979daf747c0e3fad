/**
 * Exports a list to a file, page by page, so that a hundred thousand items do not fill the memory of the page. Shows the progress
 * and can be stopped.
 */
import { signal } from '@preact/signals'
import { toProblem } from '../../api/problem.ts'
import { showToast } from '../../app/announce.ts'
import { download } from '../content/download.ts'
import { Icon } from '../icon.tsx'
import { pluralize, formatCount } from '../format.ts'

export interface ListExportOptions<F> {
  readonly noun: readonly [one: string, several: string]
  /** The name of the file, without the day and the extension. */
  readonly fileName: string
  /** One array, or one line per item. */
  readonly format: 'json' | 'jsonl'
  /** The loader of the pages of one export. */
  pages(filters: F): (before: string | undefined, signal: AbortSignal) => Promise<ExportPage>
}

export interface ExportPage {
  readonly items: readonly object[]
  /** Cursor of the next page; `undefined` on the last. */
  readonly before: string | undefined
}

export function createListExport<F>({ noun, fileName, format, pages }: ListExportOptions<F>) {
  /** The number of items exported so far, while an export runs. */
  const exportedCount = signal<number | undefined>(undefined)
  let current: AbortController | undefined

  async function exportList(filters: F): Promise<void> {
    if (exportedCount.peek() !== undefined) return
    const stop = (current = new AbortController())
    exportedCount.value = 0
    try {
      const pieces = await exportPages(pages(filters), stop.signal)
      const day = new Date().toISOString().slice(0, 10)
      download(new Blob(pieces, { type: `application/${format}` }), `${fileName}-${day}.${format}`)
      showToast(`${pluralize(exportedCount.peek() ?? 0, ...noun)} exported`)
    } catch (reason) {
      showToast(stop.signal.aborted ? 'Export stopped' : `Export failed: ${toProblem(reason).message}`)
    }
    exportedCount.value = undefined
  }

  /** Each page is a blob of its own, which the browser may keep on disk. */
  async function exportPages(load: ReturnType<typeof pages>, stopped: AbortSignal): Promise<Blob[]> {
    const pieces: Blob[] = []
    let before: string | undefined
    let count = 0
    do {
      const page = await load(before, stopped)
      pieces.push(new Blob(page.items.map((item, index) => itemText(item, count + index === 0))))
      count += page.items.length
      exportedCount.value = count
      before = page.before
    } while (before !== undefined)
    return format === 'json' ? [new Blob(['[\n']), ...pieces, new Blob(['\n]\n'])] : pieces
  }

  function itemText(item: object, isFirst: boolean): string {
    const json = JSON.stringify(item)
    return format === 'jsonl' ? `${json}\n` : isFirst ? json : `,\n${json}`
  }

  function ExportButton({ filters }: { readonly filters: F }) {
    const isRunning = exportedCount.value !== undefined
    return (
      <button type="button" class="small" onClick={() => (isRunning ? current?.abort() : void exportList(filters))}>
        <Icon name={isRunning ? 'stop' : 'download'} size={14} />
        {isRunning ? `Stop, ${formatCount(exportedCount.value ?? 0)} so far` : 'Export'}
      </button>
    )
  }

  return { exportList, ExportButton }
}
