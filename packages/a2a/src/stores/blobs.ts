/**
 * Keeps large inline bytes out of the log. A `raw` part over the limit is replaced
 * by a reference before it is written, and put back when it is read, so that a log
 * of a few big files stays small and the same file sent twice is kept once. How a
 * reference is made and found again belongs to the store; the walk over everything
 * that can hold a part is here, for all stores.
 */
import type { RecordBody } from '../model/record.ts'
import type { Artifact, Message, Part, Task, TaskStatus } from '../model/task.ts'

/** 64 kB of bytes, counted in characters of base64. */
const maxInline = (64 * 1024 * 4) / 3
/** The colon is in no base64 text, so no honest `raw` begins like this. */
const prefix = 'sha256:'

type Swap = (raw: string) => string

/** Whether this `raw` must leave the log: it is large, or could be taken for a reference. */
function isStashed(raw: string): boolean {
  return raw.length > maxInline || raw.startsWith(prefix)
}

/** Replaces what is too large by `sha256:` and whatever `keep` answers for it. Answers the same object if nothing is. */
export function stashBlobs(body: RecordBody, keep: (raw: string) => string): RecordBody {
  return inBody(body, stash(keep))
}

/** The reverse: `find` gets what `keep` answered. */
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

/** A quick look at stored JSON: without it nothing in there was stashed, and the walk can be saved. */
export function mayHoldBlobs(json: string): boolean {
  return json.includes(`"${prefix}`)
}

function stash(keep: (raw: string) => string): Swap {
  return (raw) => (isStashed(raw) ? prefix + keep(raw) : raw)
}

function splice(find: (reference: string) => string): Swap {
  return (raw) => (raw.startsWith(prefix) ? find(raw.slice(prefix.length)) : raw)
}

function inBody(body: RecordBody, swap: Swap): RecordBody {
  if (body.type === 'artifact') return changed(body, 'artifact', inArtifact(body.artifact, swap))
  if (body.type === 'status') return changed(body, 'status', inStatus(body.status, swap))
  if (body.type === 'message') return changed(body, 'message', inMessage(body.message, swap))
  return body
}

function inTask(task: Task, swap: Swap): Task {
  let result = changed(task, 'status', inStatus(task.status, swap))
  if (task.artifacts !== undefined) {
    result = changed(
      result,
      'artifacts',
      inEach(task.artifacts, (artifact) => inArtifact(artifact, swap)),
    )
  }
  if (task.history === undefined) return result
  return changed(
    result,
    'history',
    inEach(task.history, (message) => inMessage(message, swap)),
  )
}

function inStatus(status: TaskStatus, swap: Swap): TaskStatus {
  return status.message === undefined ? status : changed(status, 'message', inMessage(status.message, swap))
}

function inMessage(message: Message, swap: Swap): Message {
  return changed(message, 'parts', inParts(message.parts, swap))
}

function inArtifact(artifact: Artifact, swap: Swap): Artifact {
  return changed(artifact, 'parts', inParts(artifact.parts, swap))
}

function inParts(parts: readonly Part[], swap: Swap): readonly Part[] {
  return inEach(parts, (part) => ('raw' in part ? changed(part, 'raw', swap(part.raw)) : part))
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
function changed<Whole extends object, Key extends keyof Whole>(whole: Whole, key: Key, value: Whole[Key]): Whole {
  return whole[key] === value ? whole : { ...whole, [key]: value }
}
