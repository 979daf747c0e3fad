/** The records of an append as they are stored. */
import { isHeavy } from '../model/heavy-step.ts'
import { recordBytes } from '../model/json-nodes.ts'
import { stashBlobs } from './blobs.ts'
import type { Append } from './store.ts'

/** Batches of more records are streams of small ones, and faster to write as one. */
const fewRecords = 8

/** Whether the text of the records is so long that it is written in steps. */
export function hasLongRecord(records: Append['records']): boolean {
  return records.length <= fewRecords && records.some(({ body }) => isHeavy(recordBytes(body)))
}

/** Without large bytes: `keep` gets them, and returns their reference. */
export function slimRecords(records: Append['records'], keep: (raw: string) => string): Append['records'] {
  return records.map((record) => {
    const body = stashBlobs(record.body, keep)
    return body === record.body ? record : { at: record.at, body }
  })
}
