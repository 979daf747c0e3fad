/** The order in which the parts of a hub are closed. */
import type { Store } from '@parley/a2a'

/** Closes the store last: the other parts use it until they are closed. */
export function closeBeforeStore(store: Store, ...others: readonly { close(): Promise<void> }[]): void {
  const close = store.close.bind(store)
  store.close = async () => {
    for (const other of others) await other.close()
    await close()
  }
}

export async function closeAllQuietly(
  store: Store,
  ...others: readonly ({ close(): Promise<void> } | undefined)[]
): Promise<void> {
  for (const other of others) await other?.close().catch(() => {})
  await store.close().catch(() => {})
}
