/** Derives an id from its inputs, so that the same inputs always give the same id. */
import { createHash } from 'node:crypto'

/** As JSON, so that different lists never give the same text; in the form of a UUID, as peers expect. */
export function stableId(...of: readonly string[]): string {
  const hex = createHash('sha256').update(JSON.stringify(of)).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  )
}
