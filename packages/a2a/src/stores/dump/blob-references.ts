/** Finds and replaces the references to blobs in stored JSON. Most JSON has none, which a search of the text shows without parsing. */
import type { RecordBody } from '../../model/record.ts'
import type { Task, TaskStatus } from '../../model/task.ts'
import { blobReference, mightContainBlobs, spliceBlobs, spliceStatusBlobs, spliceTaskBlobs } from '../dump-access.ts'
import type { JsonText } from './dump-entry.ts'

/** What the JSON contains: the records of an append, a status, or a task. */
export type ReferringJson = 'records' | 'status' | 'task'

/** The digests in a text, each once, in order. */
export function findReferences(what: ReferringJson, text: JsonText): readonly string[] {
  if (!mightContainBlobs(text)) return []
  const found = new Set<string>()
  splice(what, text, (digest) => {
    found.add(digest)
    return ''
  })
  return [...found]
}

/** The text with other digests. Those that are not in the map stay. */
export function replaceReferences(what: ReferringJson, text: JsonText, digests: ReadonlyMap<string, string>): JsonText {
  return JSON.stringify(splice(what, text, (digest) => blobReference(digests.get(digest) ?? digest)))
}

function splice(what: ReferringJson, text: JsonText, find: (digest: string) => string): unknown {
  const value: unknown = JSON.parse(text)
  if (what === 'status') return spliceStatusBlobs(value as TaskStatus, find)
  if (what === 'task') return spliceTaskBlobs(value as Task, find)
  return (value as { at: number; body: RecordBody }[]).map((record) => ({
    ...record,
    body: spliceBlobs(record.body, find),
  }))
}
