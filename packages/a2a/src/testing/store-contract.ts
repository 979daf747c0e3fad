/** The contract that every store must meet. A new store is complete only when this suite passes. */
import { describe } from 'node:test'
import { appendContract } from './store-contract/appends.ts'
import type { OpenStore } from './store-contract/harness.ts'
import { idempotencyContract } from './store-contract/idempotency.ts'
import { keyContract, reopenContract } from './store-contract/keys-and-reopen.ts'
import { leaseContract } from './store-contract/leases.ts'
import { listContract } from './store-contract/lists.ts'
import { keyValueContract } from './store-contract/key-value.ts'
import { pushContract } from './store-contract/pushes.ts'
import { readContract } from './store-contract/reads.ts'
import { recordTimesContract } from './store-contract/record-times.ts'
import { retentionContract } from './store-contract/retention.ts'
import { searchContract } from './store-contract/search.ts'

export type { OpenedStore, OpenStore } from './store-contract/harness.ts'

/** Options of `storeContract`. */
export interface StoreContractOptions {
  /** Whether data survives closing the store; `open` must then return a `reopen`. Default true. */
  readonly isDurable?: boolean
}

/**
 * Registers the contract suite for a store with `node:test`. A store is complete when the suite passes.
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
  describe(`${name} keeps the store contract`, () => {
    appendContract(open)
    recordTimesContract(open)
    idempotencyContract(open)
    leaseContract(open)
    readContract(open)
    listContract(open)
    searchContract(open)
    pushContract(open)
    retentionContract(open)
    keyContract(open)
    keyValueContract(open)
    if (isDurable) reopenContract(open)
  })
}
