/** The contract that every store must meet: `logStoreContract` for the smallest one, `storeContract` for a whole one. */
import { describe } from 'node:test'
import { completeLogStore } from '../stores/complete/complete-store.ts'
import type { LogStore } from '../stores/log-store.ts'
import { appendContract } from './store-contract/appends.ts'
import { erasureContract } from './store-contract/erasure.ts'
import { feedContract, feedReopenContract } from './store-contract/feed.ts'
import type { OpenedStore, OpenStore, StoreWithErasure, StoreWithFeed } from './store-contract/harness.ts'
import { idempotencyContract } from './store-contract/idempotency.ts'
import { keyContract, keyReopenContract } from './store-contract/keys.ts'
import { keyValueContract, keyValueReopenContract } from './store-contract/key-value.ts'
import { leaseContract } from './store-contract/leases.ts'
import { listContract } from './store-contract/lists.ts'
import { logContract, type OpenedLogStore, type OpenLogStore } from './store-contract/logs.ts'
import { previewPruneContract } from './store-contract/preview-prune.ts'
import { pushReopenContract, pushRetentionContract } from './store-contract/push-retention.ts'
import { pushContract } from './store-contract/pushes.ts'
import { readContract } from './store-contract/reads.ts'
import { recordTimesContract } from './store-contract/record-times.ts'
import { reopenContract } from './store-contract/reopen.ts'
import { retentionContract } from './store-contract/retention.ts'
import { searchContract } from './store-contract/search.ts'
import { statsContract } from './store-contract/stats.ts'

export type { OpenedStore, OpenStore, StoreWithErasure, StoreWithFeed } from './store-contract/harness.ts'
export type { OpenedLogStore, OpenLogStore } from './store-contract/logs.ts'

/** Options of `storeContract` and `logStoreContract`. */
export interface StoreContractOptions {
  /** Whether data survives closing the store; `open` must then return a `reopen`. Default true. */
  readonly isDurable?: boolean
}

/**
 * Registers the contract suite of a log store with `node:test`: of its own methods, and of what the server derives from them. If the
 * store has `remove`, `snapshots` or other optional members, their tests are registered, too. Call it once for each store.
 *
 * @example
 * ```ts
 * import { logStoreContract } from '@parley/a2a/testing'
 *
 * logStoreContract('my store', async () => {
 *   const database = await createTestDatabase()
 *   return { store: myStore(database), reopen: async () => myStore(database), dispose: () => database.drop() }
 * })
 * ```
 */
export function logStoreContract(
  name: string,
  open: OpenLogStore,
  { isDurable = true }: StoreContractOptions = {},
): void {
  describe(`${name} keeps the contract of a log store`, async () => {
    const { store, dispose } = await open()
    await dispose()
    const completed = completedStores(open)
    logContract(open, store, isDurable)
    describe('what the server derives from it', () => {
      taskContract(completed, isDurable)
      pushContract(completed)
      pushRetentionContract(completed)
      if (isDurable) pushReopenContract(completed)
      keyContract(completed)
      if (isDurable) keyReopenContract(completed)
      keyValueContract(store.kv === undefined ? completed : completedStores(open, 'real'))
      if (isDurable && store.kv !== undefined) keyValueReopenContract(completed)
      if (store.feed !== undefined) feedContract(completed as OpenStore<StoreWithFeed>)
      if (store.feed !== undefined && isDurable) feedReopenContract(completed as OpenStore<StoreWithFeed>)
      if (store.stats !== undefined) statsContract(completed)
    })
  })
}

/**
 * Registers the contract suite of a whole store with `node:test`. A store is complete when the suite passes. The tests of `feed`,
 * `erasure`, `previewPrune` and `stats` are registered if the store has them.
 *
 * @example
 * ```ts
 * import { storeContract } from '@parley/a2a/testing'
 *
 * storeContract('my store', async () => {
 *   const directory = await makeTemporaryDirectory()
 *   let store = await openMyStore(directory)
 *   return {
 *     store,
 *     async reopen() {
 *       await store.close()
 *       return (store = await openMyStore(directory))
 *     },
 *     dispose: () => store.close(),
 *   }
 * })
 * ```
 */
export function storeContract(name: string, open: OpenStore, { isDurable = true }: StoreContractOptions = {}): void {
  describe(`${name} keeps the contract of a store`, async () => {
    const { store, dispose } = await open()
    await dispose()
    taskContract(open, isDurable)
    pushContract(open)
    pushRetentionContract(open)
    keyContract(open)
    keyValueContract(open)
    if (isDurable) pushReopenContract(open)
    if (isDurable) keyReopenContract(open)
    if (isDurable) keyValueReopenContract(open)
    if (store.feed !== undefined) feedContract(open as OpenStore<StoreWithFeed>)
    if (store.feed !== undefined && isDurable) feedReopenContract(open as OpenStore<StoreWithFeed>)
    if (store.erasure !== undefined) erasureContract(open as OpenStore<StoreWithErasure>)
    if (store.previewPrune !== undefined) previewPruneContract(open as OpenStore<StoreWithErasure>)
    if (store.stats !== undefined) statsContract(open)
  })
}

function taskContract(open: OpenStore, isDurable: boolean): void {
  appendContract(open)
  recordTimesContract(open)
  idempotencyContract(open)
  leaseContract(open)
  readContract(open)
  listContract(open)
  searchContract(open)
  retentionContract(open)
  if (isDurable) reopenContract(open)
}

/**
 * The completed store of a log store. With a `stepped` clock, leases and claims expire without waiting. The members of a log store have
 * clocks of their own, so the tests of `kv` use the `real` one, and wait.
 */
function completedStores(open: OpenLogStore, time: 'stepped' | 'real' = 'stepped'): OpenStore {
  return async (): Promise<OpenedStore> => {
    let at = Date.now()
    const clock = { now: () => at, advance: (ms: number) => void (at += ms) }
    const complete = (store: LogStore) => completeLogStore(store, time === 'real' ? {} : { now: clock.now }).store
    const opened: OpenedLogStore = await open()
    const { store, reopen, dispose } = opened
    let current = complete(store)
    return {
      store: current,
      ...(time === 'real' ? {} : { clock }),
      ...(reopen === undefined
        ? {}
        : {
            async reopen() {
              await current.close()
              // A restart takes time.
              clock.advance(1_000)
              return (current = complete(await reopen()))
            },
          }),
      without: [
        ...(store.remove === undefined ? (['retention'] as const) : []),
        ...(store.snapshots === undefined ? (['snapshots'] as const) : []),
      ],
      dispose,
    }
  }
}
