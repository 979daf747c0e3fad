/** Which items of a transcript are shown: of a long run of status lines, only the last few. */
import type { TranscriptItem } from './transcript.ts'

export type TranscriptRow = { readonly item: TranscriptItem } | { readonly key: string; readonly hidden: number }

const maxStatusLines = 8
const keptStatusLines = 4

/** `opened` holds the keys of the runs that are expanded. */
export function collapseStatusLines(
  items: readonly TranscriptItem[],
  opened: ReadonlySet<string>,
): readonly TranscriptRow[] {
  const rows: TranscriptRow[] = []
  let at = 0
  while (at < items.length) {
    const statusRun = statusRunAt(items, at)
    const key = `more ${items[at]?.key ?? ''}`
    const hidden = statusRun.length > maxStatusLines && !opened.has(key) ? statusRun.length - keptStatusLines : 0
    if (hidden > 0) rows.push({ key, hidden })
    for (const item of statusRun.slice(hidden)) if (hasContent(item)) rows.push({ item })
    at += statusRun.length
  }
  return rows
}

function statusRunAt(items: readonly TranscriptItem[], at: number): readonly TranscriptItem[] {
  let end = at + 1
  if (items[at]?.kind === 'status') while (items[end]?.kind === 'status') end += 1
  return items.slice(at, end)
}

/** False for an artifact that is still empty. */
function hasContent(item: TranscriptItem): boolean {
  if (item.kind !== 'made') return true
  return item.artifact.name !== undefined || item.artifact.parts.some((part) => !('text' in part) || part.text !== '')
}
