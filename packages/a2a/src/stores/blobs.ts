/**
 * Keeps large inline bytes out of the log. A `raw` part over the limit is replaced by a reference before the write, and restored
 * when it is read. So a log with a few big files stays small, and the same file sent twice is stored once. Each store decides how
 * it creates and resolves references; the walk over everything that can hold a part is here, for all stores.
 */
import type { RecordBody } from '../model/record.ts'
import type { Artifact, Message, Part, Task, TaskStatus } from '../model/task.ts'

/** 64 kB of bytes, counted in characters of base64. */
const maxInline = (64 * 1024 * 4) / 3
/** Base64 has no colon, so no valid `raw` begins like this. */
const prefix = 'sha256:'

type ReplaceRaw = (raw: string) => string

/** What a `raw` contains instead of its bytes. */
export function blobReference(digest: string): string {
  return prefix + digest
}

/** Whether this `raw` must leave the log: it is large, or looks like a reference. */
function mustStash(raw: string): boolean {
  return raw.length > maxInline || raw.startsWith(prefix)
}

/** Replaces large bytes by `sha256:` and the result of `keep`. Returns the same object if nothing is large. */
export function stashBlobs(body: RecordBody, keep: (raw: string) => string): RecordBody {
  return inBody(body, stash(keep))
}

/** The reverse: `find` receives the result of `keep`. */
export function spliceBlobs(body: RecordBody, find: (reference: string) => string): RecordBody {
  return inBody(body, splice(find))
}

export function stashStatusBlobs(status: TaskStatus, keep: (raw: string) => string): TaskStatus {
  return inStatus(status, stash(keep))
}
export function spliceStatusBlobs(status: TaskStatus, find: (reference: string) => string): TaskStatus {
  return inStatus(status, splice(find))
}

export function stashTaskBlobs(task: Task, keep: (raw: string) => string): Task {
  return inTask(task, stash(keep))
}
export function spliceTaskBlobs(task: Task, find: (reference: string) => string): Task {
  return inTask(task, splice(find))
}

/** A quick check of stored JSON: if it returns false, nothing was stashed and the walk can be skipped. */
export function mightContainBlobs(json: string): boolean {
  return json.includes(`"${prefix}`)
}

function stash(keep: (raw: string) => string): ReplaceRaw {
  return (raw) => (mustStash(raw) ? blobReference(keep(raw)) : raw)
}

function splice(find: (reference: string) => string): ReplaceRaw {
  return (raw) => (raw.startsWith(prefix) ? find(raw.slice(prefix.length)) : raw)
}

function inBody(body: RecordBody, swap: ReplaceRaw): RecordBody {
  if (body.type === 'artifact') return withMember(body, 'artifact', inArtifact(body.artifact, swap))
  if (body.type === 'status') return withMember(body, 'status', inStatus(body.status, swap))
  if (body.type === 'message') return withMember(body, 'message', inMessage(body.message, swap))
  return body
}

function inTask(task: Task, swap: ReplaceRaw): Task {
  let result = withMember(task, 'status', inStatus(task.status, swap))
  if (task.artifacts !== undefined) {
    result = withMember(
      result,
      'artifacts',
      inEach(task.artifacts, (artifact) => inArtifact(artifact, swap)),
    )
  }
  if (task.history === undefined) return result
  return withMember(
    result,
    'history',
    inEach(task.history, (message) => inMessage(message, swap)),
  )
}

function inStatus(status: TaskStatus, swap: ReplaceRaw): TaskStatus {
  return status.message === undefined ? status : withMember(status, 'message', inMessage(status.message, swap))
}

function inMessage(message: Message, swap: ReplaceRaw): Message {
  return withMember(message, 'parts', inParts(message.parts, swap))
}

function inArtifact(artifact: Artifact, swap: ReplaceRaw): Artifact {
  return withMember(artifact, 'parts', inParts(artifact.parts, swap))
}

function inParts(parts: readonly Part[], swap: ReplaceRaw): readonly Part[] {
  return inEach(parts, (part) => ('raw' in part ? withMember(part, 'raw', swap(part.raw)) : part))
}

function inEach<Item>(items: readonly Item[], convert: (item: Item) => Item): readonly Item[] {
  let copy: Item[] | undefined
  items.forEach((item, index) => {
    const converted = convert(item)
    if (converted === item) return
    copy ??= [...items]
    copy[index] = converted
  })
  return copy ?? items
}

/** A copy with one member replaced, or the object itself: almost always nothing is large, and then nothing is copied. */
function withMember<Whole extends object, Key extends keyof Whole>(whole: Whole, key: Key, value: Whole[Key]): Whole {
  return whole[key] === value ? whole : { ...whole, [key]: value }
}
