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

export interface StoreContractOptions {
  /** Whether written data is there when the store is opened again; `open` then returns a `reopen`. */
  readonly isDurable?: boolean
}

/** Registers the suite with `node:test`. `open` returns a fresh and empty store for every test. */
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
