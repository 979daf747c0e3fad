/** An append as `append_2` takes it: one row of JSON, made when the append is asked for, so that a flush only joins texts. */
import { isVisible } from '../../model/record.ts'
import { isTerminal, taskStates } from '../../model/state.ts'
import type { TaskState } from '../../model/state.ts'
import { stashBlobs, stashStatusBlobs } from '../blobs.ts'
import { inOrder } from '../decide.ts'
import type { Append, Appended, NewTask, Partition } from '../store.ts'
import type { Blob } from './blob-content.ts'
import { blobOf } from './blob-content.ts'
import { digestOf, fromText, toText, wholeTime } from './names.ts'
import type { DatabaseTime } from './time.ts'

const numbers: ReadonlyMap<TaskState, number> = new Map(taskStates.map((state, number) => [state, number]))

/** States are stored by their number in the protocol. */
export function stateNumber(state: TaskState): number {
  return numbers.get(state) ?? 0
}

export interface Prepared {
  readonly id: string
  /** The digest of the message's key: two appends with the same one must not share a flush. */
  readonly key: string | undefined
  readonly makes: boolean
  /** A JSON object without its first brace: the flush puts the number of the append in front. */
  readonly row: string
  readonly blobs: readonly Blob[]
  readonly bytes: number
}

export function prepare(taskId: string, append: Append, { distance }: Pick<DatabaseTime, 'distance'>): Prepared {
  const { create, change, idempotency, take } = append
  // In itself; the database compares the first with the last record that it has.
  const records = inOrder(append.records, 0)
  const blobs: Blob[] = []
  const keep = (raw: string): string => {
    const blob = blobOf(raw)
    blobs.push(blob)
    return blob.digest
  }
  const status = change?.status ?? create?.status
  const due = change?.due === undefined ? create?.due : change.due
  const id = toText(taskId)
  const key = idempotency && digestOf(idempotency.key)
  // Members that are undefined are not written, and are NULL in the database.
  const row = JSON.stringify({
    id,
    expected: append.expectedSeq,
    later: append.orLater,
    fence: append.fence,
    count: records.length,
    records: records.length === 0 ? undefined : recordsText(records, keep),
    visible: lastVisible(append),
    first_at: records[0]?.at,
    at: records.at(-1)?.at,
    ...(idempotency && { key, hash: toText(idempotency.hash), claim_ms: wholeTime(idempotency.ttlMs) }),
    ...(take && { holder: toText(take.holder), ttl: wholeTime(take.ttlMs) }),
    release: append.release,
    ...(status && {
      state: stateNumber(status.state),
      finished: isTerminal(status.state),
      status: JSON.stringify(stashStatusBlobs(status, keep)),
      status_at: change?.statusAt ?? create?.statusAt,
    }),
    consumed: change?.consumedSeq ?? create?.consumedSeq,
    ...(due !== undefined && { sets_due: true, due_kind: due?.kind, due_in: due === null ? null : distance(due.at) }),
    ...(create && creation(create)),
  }).slice(1)
  const bytes = row.length + blobs.reduce((sum, { content }) => sum + content.length, 0)
  return { id, key, makes: create !== undefined, row, blobs, bytes }
}

function creation(task: NewTask) {
  return {
    makes: true,
    context: toText(task.contextId),
    tenant: toText(task.tenant),
    agent: toText(task.agent),
    owner: toText(task.owner),
    partition_key: partitionKey(task),
    owner_key: ownerKey(task.tenant, task.owner),
    created: task.createdAt,
    metadata: task.metadata && JSON.stringify(task.metadata),
  }
}

export function partitionKey({ tenant, agent, owner }: Partition): string {
  return digestOf(tenant, agent, owner)
}
export function ownerKey(tenant: string, owner: string): string {
  return digestOf(tenant, owner)
}

function recordsText(records: Append['records'], keep: (raw: string) => string): string {
  return JSON.stringify(
    records.map((record) => {
      const body = stashBlobs(record.body, keep)
      return body === record.body ? record : { at: record.at, body }
    }),
  )
}

function lastVisible({ records, expectedSeq }: Append): number | undefined {
  const index = records.findLastIndex(({ body }) => isVisible(body))
  return index < 0 ? undefined : expectedSeq + index + 1
}

/** An answer of `append_2`: the number of the outcome, then what belongs to it. */
export type Answer =
  | readonly [0, head: number, fence: number | null]
  | readonly [1, head: number]
  | readonly [2]
  | readonly [3]
  | readonly [4, taskId: string, hash: string]

export function outcomeOf(answer: Answer): Appended {
  switch (answer[0]) {
    case 0: {
      const [, head, fence] = answer
      return { outcome: 'appended', head, ...(fence === null ? {} : { fence }) }
    }
    case 1:
      return { outcome: 'conflict', head: answer[1] }
    case 2:
      return { outcome: 'fenced' }
    case 3:
      return { outcome: 'held' }
    case 4:
      return { outcome: 'duplicate', taskId: fromText(answer[1]), hash: fromText(answer[2]) }
  }
}
