/** What `stores/dump` uses of all stores: it reads and writes their tables, and imports nothing else of them. */
export { blobReference, mightContainBlobs, spliceBlobs, spliceStatusBlobs, spliceTaskBlobs } from './blobs.ts'
export { withOrderedTimes } from './decide-append.ts'
export { keyFromBytes, keyToBytes } from './key-value-keys.ts'
export { checksummedTables } from './migration-step.ts'
export type { ChecksummedTable } from './migration-step.ts'
