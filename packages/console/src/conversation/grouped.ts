/** Which things of a conversation are shown: of many lines that an agent says on the way, one after the other, the last few. */
import type { Item } from './talk.ts'

export type TalkRow = { readonly item: Item } | { readonly key: string; readonly hidden: number }

const mostLines = 8
const lastLines = 4

/** `opened` holds the keys of those groups that are shown whole. */
export function grouped(items: readonly Item[], opened: ReadonlySet<string>): readonly TalkRow[] {
  const rows: TalkRow[] = []
  let at = 0
  while (at < items.length) {
    const run = runAt(items, at)
    const key = `more ${items[at]?.key ?? ''}`
    const hidden = run.length > mostLines && !opened.has(key) ? run.length - lastLines : 0
    if (hidden > 0) rows.push({ key, hidden })
    for (const item of run.slice(hidden)) if (isSeen(item)) rows.push({ item })
    at += run.length
  }
  return rows
}

function runAt(items: readonly Item[], at: number): readonly Item[] {
  let end = at + 1
  if (items[at]?.kind === 'status') while (items[end]?.kind === 'status') end += 1
  return items.slice(at, end)
}

/** An artifact that holds nothing yet. */
function isSeen(item: Item): boolean {
  if (item.kind !== 'made') return true
  return item.artifact.name !== undefined || item.artifact.parts.some((part) => !('text' in part) || part.text !== '')
}
