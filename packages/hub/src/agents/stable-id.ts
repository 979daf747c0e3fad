/** Ids that are made of what they stand for, so that whoever comes to the same place again comes to the same id. */
import { createHash } from 'node:crypto'

/** As JSON, so that no two lists read the same; in the form of a UUID, because peers expect ids to look like that. */
export function stableId(...of: readonly string[]): string {
  const hex = createHash('sha256').update(JSON.stringify(of)).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  )
}
