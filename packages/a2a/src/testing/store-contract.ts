/** What every store promises. A new store is done when this passes and not before. */
import { describe } from 'node:test'
import { appendContract } from './store-contract/appends.ts'
import type { OpenStore } from './store-contract/harness.ts'
import { idempotencyContract } from './store-contract/idempotency.ts'
import { keyContract, reopenContract } from './store-contract/keeping.ts'
import { leaseContract } from './store-contract/leases.ts'
import { listContract } from './store-contract/lists.ts'
import { noteContract } from './store-contract/notes.ts'
import { pushContract } from './store-contract/pushes.ts'
import { readContract } from './store-contract/reads.ts'
import { recordTimesContract } from './store-contract/record-times.ts'
import { retentionContract } from './store-contract/retention.ts'
import { searchContract } from './store-contract/search.ts'

export type { OpenedStore, OpenStore } from './store-contract/harness.ts'

export interface StoreContractOptions {
  /** Whether what was written is there when the store is opened again; `open` then gives a `reopen`. */
  readonly keeps?: boolean
}

/** Registers the suite with `node:test`. `open` gives a fresh and empty store for every test. */
export function storeContract(name: string, open: OpenStore, { keeps = true }: StoreContractOptions = {}): void {
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
    noteContract(open)
    if (keeps) reopenContract(open)
  })
}
