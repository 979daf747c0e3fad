/** The contract that every store must meet, facet by facet. A new store is complete only when its suites pass. */
import { describe } from 'node:test'
import type { FullStore } from '../stores/store.ts'
import { appendContract } from './store-contract/appends.ts'
import { erasureContract } from './store-contract/erasure.ts'
import { feedContract, feedReopenContract } from './store-contract/feed.ts'
import type { OpenStore, StoreWithErasure, StoreWithFeed, StoreWithPush } from './store-contract/harness.ts'
import { idempotencyContract } from './store-contract/idempotency.ts'
import { keyContract, keyReopenContract } from './store-contract/keys.ts'
import { keyValueContract, keyValueReopenContract } from './store-contract/key-value.ts'
import { leaseContract } from './store-contract/leases.ts'
import { listContract } from './store-contract/lists.ts'
import { previewPruneContract } from './store-contract/preview-prune.ts'
import { pushReopenContract, pushRetentionContract } from './store-contract/push-retention.ts'
import { pushContract } from './store-contract/pushes.ts'
import { readContract } from './store-contract/reads.ts'
import { recordTimesContract } from './store-contract/record-times.ts'
import { reopenContract } from './store-contract/reopen.ts'
import { retentionContract } from './store-contract/retention.ts'
import { searchContract } from './store-contract/search.ts'
import { statsContract } from './store-contract/stats.ts'

export type {
  OpenedStore,
  OpenStore,
  StoreWithErasure,
  StoreWithFeed,
  StoreWithPush,
} from './store-contract/harness.ts'

/** Options of `storeContract` and of the suites of the facets. */
export interface StoreContractOptions {
  /** Whether data survives closing the store; `open` must then return a `reopen`. Default true. */
  readonly isDurable?: boolean
}

/**
 * Registers the contract suite of all facets of a store with `node:test`. A store is complete when the suite passes. For a store
 * that leaves out `push` or `feed`, call the suites of its facets instead.
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
export function storeContract(name: string, open: OpenStore<FullStore>, options?: StoreContractOptions): void {
  taskStoreContract(name, open, options)
  pushStoreContract(name, open, options)
  keyStoreContract(name, open, options)
  feedStoreContract(name, open, options)
  keyValueStoreContract(name, open, options)
  erasureStoreContract(name, open)
  describe(`${name} keeps the contract of store.stats`, () => statsContract(open))
}

/** Registers the contract suite of `store.tasks` and `store.prune`. Every store must pass it. */
export function taskStoreContract(
  name: string,
  open: OpenStore,
  { isDurable = true }: StoreContractOptions = {},
): void {
  describe(`${name} keeps the contract of store.tasks`, () => {
    appendContract(open)
    recordTimesContract(open)
    idempotencyContract(open)
    leaseContract(open)
    readContract(open)
    listContract(open)
    searchContract(open)
    retentionContract(open)
    if (isDurable) reopenContract(open)
  })
}

/** Registers the contract suite of `store.push`. */
export function pushStoreContract(
  name: string,
  open: OpenStore<StoreWithPush>,
  { isDurable = true }: StoreContractOptions = {},
): void {
  describe(`${name} keeps the contract of store.push`, () => {
    pushContract(open)
    pushRetentionContract(open)
    if (isDurable) pushReopenContract(open)
  })
}

/** Registers the contract suite of `store.keys`. Every store must pass it. */
export function keyStoreContract(name: string, open: OpenStore, { isDurable = true }: StoreContractOptions = {}): void {
  describe(`${name} keeps the contract of store.keys`, () => {
    keyContract(open)
    if (isDurable) keyReopenContract(open)
  })
}

/** Registers the contract suite of `store.feed`. */
export function feedStoreContract(
  name: string,
  open: OpenStore<StoreWithFeed>,
  { isDurable = true }: StoreContractOptions = {},
): void {
  describe(`${name} keeps the contract of store.feed`, () => {
    feedContract(open)
    if (isDurable) feedReopenContract(open)
  })
}

/** Registers the contract suite of `store.kv`. Every store must pass it. */
export function keyValueStoreContract(
  name: string,
  open: OpenStore,
  { isDurable = true }: StoreContractOptions = {},
): void {
  describe(`${name} keeps the contract of store.kv`, () => {
    keyValueContract(open)
    if (isDurable) keyValueReopenContract(open)
  })
}

/** Registers the contract suite of `store.erasure` and `store.previewPrune`. */
export function erasureStoreContract(name: string, open: OpenStore<StoreWithErasure>): void {
  describe(`${name} keeps the contract of store.erasure`, () => {
    erasureContract(open)
    previewPruneContract(open)
  })
}
