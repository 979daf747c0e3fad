/** An append as `append_1` takes it: one row of JSON, built when the append is requested, so that a flush only joins texts. */
import { crc32 } from 'node:zlib'
import { heavyStep, type NextStep } from '../../model/heavy-step.ts'
import { writeJsonInSteps } from '../../model/json-steps.ts'
import { isVisible } from '../../model/record.ts'
import { isTerminal, taskStateNumber } from '../../model/state.ts'
import { stashStatusBlobs } from '../blobs.ts'
import { withOrderedTimes } from '../decide-append.ts'
import { hasLongRecord, slimRecords } from '../long-records.ts'
import type { Append, AppendResult, NewTask, Partition } from '../store.ts'
import { type PostgresBlob, toPostgresBlob } from './blob-content.ts'
import { nameDigest, decodeText, encodeText, toPostgresInteger } from './text-encoding.ts'
import type { DatabaseTime } from './database.ts'

export interface PreparedAppend {
  readonly taskId: string
  /** The id of the task as it is stored. */
  readonly id: string
  /** The digest of the message key: two appends with the same digest must not share a flush. */
  readonly key: string | undefined
  readonly createsTask: boolean
  /** A JSON object without its first brace: the flush prepends the number of the append. */
  readonly row: string
  readonly blobs: readonly PostgresBlob[]
  /** As they are written, unless the task has later records. */
  readonly records: Append['records']
  readonly bytes: number
}

/** Returns a promise only if a record is long: its text is then written in steps. */
export function prepareAppend(
  taskId: string,
  append: Append,
  { offsetFromNow }: Pick<DatabaseTime, 'offsetFromNow'>,
): PreparedAppend | Promise<PreparedAppend> {
  const { create, change, idempotency, take } = append
  // Ordered among themselves; the database compares the first with the last record that it has.
  const records = withOrderedTimes(append.records, 0)
  const blobs: PostgresBlob[] = []
  const keep = (raw: string): string => {
    const blob = toPostgresBlob(raw)
    blobs.push(blob)
    return blob.digest
  }
  const status = change?.status ?? create?.status
  const due = change?.due === undefined ? create?.due : change.due
  const id = encodeText(taskId)
  const key = idempotency && nameDigest(idempotency.key)
  const slim = slimRecords(records, keep)
  // Undefined members are omitted, and are NULL in the database.
  const columns = {
    id,
    expected: append.expectedSeq,
    later: append.orLater,
    fence: append.fence,
    count: records.length,
    visible: lastVisible(append),
    first_at: records[0]?.at,
    at: records.at(-1)?.at,
    ...(idempotency && { key, hash: encodeText(idempotency.hash), claim_ms: toPostgresInteger(idempotency.ttlMs) }),
    ...(take && { holder: encodeText(take.holder), ttl: toPostgresInteger(take.ttlMs) }),
    release: append.release,
    ...(status && {
      state: taskStateNumber(status.state),
      finished: isTerminal(status.state),
      status: JSON.stringify(stashStatusBlobs(status, keep)),
      status_at: change?.statusAt ?? create?.statusAt,
    }),
    consumed: change?.consumedSeq ?? create?.consumedSeq,
    ...(due !== undefined && {
      sets_due: true,
      due_kind: due?.kind,
      due_in: due === null ? null : offsetFromNow(due.at),
    }),
    ...(create && newTaskColumns(create)),
  }
  const preparedWith = (row: string): PreparedAppend => {
    const bytes = row.length + blobs.reduce((sum, { content }) => sum + content.length, 0)
    return { taskId, id, key, createsTask: create !== undefined, row: row.slice(1), blobs, records, bytes }
  }
  if (hasLongRecord(records)) {
    return rowInSteps(columns, slim, () => heavyStep(append.owner ?? taskId)).then(preparedWith)
  }
  const text = records.length === 0 ? undefined : JSON.stringify(slim)
  const checksum = text === undefined ? undefined : crc32(text)
  return preparedWith(JSON.stringify({ ...columns, records: text, checksum }))
}

/** The records are text within a row of text. */
async function rowInSteps(columns: object, records: unknown, nextStep: NextStep): Promise<string> {
  await nextStep()
  const text = await writeJsonInSteps(records, nextStep)
  await nextStep()
  const row = JSON.stringify({ ...columns, checksum: crc32(text) }).slice(0, -1)
  await nextStep()
  const quoted = await writeJsonInSteps(text, nextStep)
  await nextStep()
  return `${row},"records":${quoted}}`
}

function newTaskColumns(task: NewTask) {
  return {
    makes: true,
    context: encodeText(task.contextId),
    tenant: encodeText(task.tenant),
    agent: encodeText(task.agent),
    owner: encodeText(task.owner),
    partition_key: partitionKey(task),
    owner_key: ownerKey(task.tenant, task.owner),
    created: task.createdAt,
    metadata: task.metadata && JSON.stringify(task.metadata),
  }
}

export function partitionKey({ tenant, agent, owner }: Partition): string {
  return nameDigest(tenant, agent, owner)
}
export function ownerKey(tenant: string, owner: string): string {
  return nameDigest(tenant, owner)
}

function lastVisible({ records, expectedSeq }: Append): number | undefined {
  const index = records.findLastIndex(({ body }) => isVisible(body))
  return index < 0 ? undefined : expectedSeq + index + 1
}

/**
 * A result of `append_1`: the number of the outcome, then its fields. `position` is that of its row in the feed.
 * Record times are at least `notBefore`.
 */
export type AppendAnswer =
  | readonly [0, head: number, fence: number | null, position: number, notBefore: number | null]
  | readonly [1, head: number]
  | readonly [2]
  | readonly [3]
  | readonly [4, taskId: string, hash: string]

export function appendResultOf(answer: AppendAnswer): AppendResult {
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
      return { outcome: 'duplicate', taskId: decodeText(answer[1]), hash: decodeText(answer[2]) }
  }
}
