/** Ids that are derived from their inputs, so that the same inputs always give the same id. */
import { hash } from 'node:crypto'

/** As JSON, so that different lists never give the same text; in the form of a UUID, as peers expect. */
export function stableId(...of: readonly string[]): string {
  const hex = hash('sha256', JSON.stringify(of))
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  )
}
