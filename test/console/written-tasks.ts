/** Tasks with chosen times, written to the store like an engine does. */
import assert from 'node:assert/strict'
import type { RecordBody, Store } from '@parley/a2a/stores'

export interface WrittenTask {
  readonly id: string
  readonly at: number
  readonly text: string
  /** Between the first and the last record. */
  readonly more: readonly RecordBody[]
  /** Between two records. Default: one millisecond. */
  readonly everyMs?: number
}

export async function writeTask(store: Store, { id, at, text, more, everyMs = 1 }: WrittenTask): Promise<void> {
  const status = { state: 'TASK_STATE_COMPLETED', timestamp: new Date(at).toISOString() } as const
  const message = { messageId: id, role: 'ROLE_USER', parts: [{ text }] } as const
  const bodies: readonly RecordBody[] = [
    { type: 'message', message },
    { type: 'status', status: { state: 'TASK_STATE_WORKING' } },
    ...more,
    { type: 'status', status },
  ]
  const appended = await store.tasks.append(id, {
    expectedSeq: 0,
    records: bodies.map((body, index) => ({ at: at + index * everyMs, body })),
    create: {
      id,
      contextId: id,
      tenant: '',
      agent: 'talker',
      owner: 'anonymous',
      status,
      statusAt: at,
      createdAt: at - 40,
      consumedSeq: 1,
    },
  })
  assert.equal(appended.outcome, 'appended')
}
