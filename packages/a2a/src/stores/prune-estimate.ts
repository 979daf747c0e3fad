import type { PruneEstimate } from './store.ts'

/** What a store counted of one kind; columns of a database may be texts. */
export interface EstimateColumns {
  readonly kind: PruneEstimate['kind']
  readonly rows: unknown
  readonly bytes: unknown
  readonly oldest: unknown
  readonly newest: unknown
}

/** Nothing if there are no rows. */
export function estimateOf(
  { kind, rows, bytes, oldest, newest }: EstimateColumns,
  entryKind?: string,
): readonly PruneEstimate[] {
  if (Number(rows) === 0) return []
  const times = oldest === null || oldest === undefined ? {} : { oldest: Number(oldest), newest: Number(newest) }
  return [
    {
      kind,
      ...(entryKind === undefined ? {} : { entryKind }),
      rows: Number(rows),
      bytes: Number(bytes ?? 0),
      ...times,
    },
  ]
}
