/** In which order the parts of a hub are closed. */
import type { Store } from '@parley/a2a'

/** The store goes last: what is open needs it until it is closed. */
export function closeFirst(store: Store, ...others: readonly { close(): Promise<void> }[]): void {
  const close = store.close.bind(store)
  store.close = async () => {
    for (const other of others) await other.close()
    await close()
  }
}

export async function closeAll(
  store: Store,
  ...others: readonly ({ close(): Promise<void> } | undefined)[]
): Promise<void> {
  for (const other of others) await other?.close().catch(() => {})
  await store.close().catch(() => {})
}
