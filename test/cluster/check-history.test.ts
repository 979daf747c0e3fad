/** The history checker gets one valid history and every kind of violation. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eventOfRecord, type LogRecord, type RecordBody } from '../../packages/a2a/src/model/record.ts'
import type { TaskState } from '../../packages/a2a/src/model/state.ts'
import { checkClusterHistory, type ClusterHistory, type SubscriberHistory } from './check-history.ts'

const taskId = 't1'
const contextId = 'c1'
const status = (state: TaskState): RecordBody => ({ type: 'status', status: { state } })
const started = (attempt: number): RecordBody => ({ type: 'turn-started', turn: 1, attempt, consumedSeq: 1 })
const count = (n: number, by = 'one', attempt = 1): RecordBody => ({
  type: 'artifact',
  artifact: { artifactId: 'count m1', parts: [{ text: `${n} ` }], metadata: { by, attempt } },
  append: n > 0,
})
const message: RecordBody = {
  type: 'message',
  message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'go' }] },
}

/** One second between two records. */
const recordsOf = (...bodies: readonly RecordBody[]): readonly LogRecord[] =>
  bodies.map((body, index) => ({ seq: index + 1, at: (index + 1) * 1_000, body }))

/** The first replica counts to two and is killed in second 7; the second one continues in second 8. */
const records = recordsOf(
  message,
  status('TASK_STATE_SUBMITTED'),
  started(1),
  status('TASK_STATE_WORKING'),
  count(0),
  count(1),
  count(2),
  started(2),
  count(3, 'two', 2),
  status('TASK_STATE_COMPLETED'),
)

const streamOf = (subscriber: string, ...seqs: readonly number[]): SubscriberHistory => ({
  subscriber,
  taskId,
  finished: true,
  events: seqs.map((seq) => {
    const { body } = records[seq - 1] as LogRecord
    const event = eventOfRecord(taskId, contextId, body)
    return { seq, event: event ?? { task: { id: taskId, contextId, status: { state: 'TASK_STATE_SUBMITTED' } } } }
  }),
})

const good: ClusterHistory = {
  streams: [streamOf('early', 2, 4, 5, 6, 7, 9, 10), streamOf('late', 6, 7, 9, 10)],
  sent: [{ messageId: 'm1', taskId, state: 'TASK_STATE_COMPLETED' }, { messageId: 'never taken' }],
  logs: [{ taskId, contextId, records }],
  outages: [{ replica: 'one', at: 7_000, boundMs: 1_000 }],
}

const finds = (history: Partial<ClusterHistory>, problem: RegExp): void => {
  const found = checkClusterHistory({ ...good, ...history })
  assert.ok(
    found.some((sentence) => problem.test(sentence)),
    `not found: ${problem}; but ${JSON.stringify(found)}`,
  )
}
const logged = (...bodies: readonly RecordBody[]): Partial<ClusterHistory> => ({
  logs: [{ taskId, contextId, records: recordsOf(...bodies) }],
  streams: [],
})

describe('the history checker', () => {
  it('reports nothing for a valid history', () => {
    assert.deepEqual(checkClusterHistory(good), [])
  })

  it('accepts a subscriber that leaves early and has seen everything up to then', () => {
    assert.deepEqual(checkClusterHistory({ ...good, streams: [{ ...streamOf('gone', 2, 4, 5), finished: false }] }), [])
  })

  it('reports an event lost in the middle and an event lost at the end', () => {
    finds({ streams: [streamOf('a', 2, 4, 6, 7, 9, 10)] }, /did not receive 5/)
    finds({ streams: [streamOf('a', 2, 4, 5, 6, 7, 9)] }, /did not receive 10/)
    finds({ streams: [{ ...streamOf('a', 2, 4, 6), finished: false }] }, /did not receive 5/)
  })

  it('reports a delivered event that the log does not have', () => {
    const kept = records.filter(({ seq }) => seq !== 6)
    finds({ logs: [{ taskId, contextId, records: kept }] }, /acknowledged event was lost/)
    finds({ logs: [] }, /task that does not exist/)
  })

  it('reports an event that was delivered twice, out of order, or with other content than the log has', () => {
    finds({ streams: [streamOf('a', 2, 4, 5, 5, 6, 7, 9, 10)] }, /received 5 twice/)
    finds({ streams: [streamOf('a', 2, 4, 6, 5, 7, 9, 10)] }, /received 5 after 6/)
    const { events } = streamOf('a', 2, 4, 5, 6, 7, 9, 10)
    const other = events.map((one) => (one.seq === 6 ? { ...one, event: events[2]?.event ?? one.event } : one))
    finds({ streams: [{ ...streamOf('a'), events: other }] }, /something else at 6/)
  })

  it('reports a task that never ends, ends twice, or continues after its end', () => {
    const opening = [message, status('TASK_STATE_SUBMITTED'), started(1), status('TASK_STATE_WORKING')]
    finds(logged(...opening, count(0)), /stuck/)
    finds(logged(...opening, status('TASK_STATE_COMPLETED'), status('TASK_STATE_FAILED')), /ended 2 times/)
    finds(logged(...opening, status('TASK_STATE_COMPLETED'), count(0)), /after its end/)
  })

  it('reports a record of a replica that had lost the task', () => {
    const bodies = records.map(({ body }) => body)
    finds(logged(...bodies.toSpliced(8, 0, count(3, 'one', 1))), /attempt 1 said during attempt 2/)
    finds(logged(...bodies.toSpliced(6, 1, count(2, 'two', 1))), /by two, and is one's/)
  })

  it('reports work that was done twice or skipped', () => {
    const bodies = records.map(({ body }) => body)
    finds(logged(...bodies.toSpliced(6, 1)), /where 2 is due/)
    finds(logged(...bodies.toSpliced(6, 0, count(1))), /where 2 is due/)
  })

  it('reports records that are missing, doubled or misplaced in a log', () => {
    finds({ logs: [{ taskId, contextId, records: records.toSpliced(3, 1) }] }, /record 5 where 4 belongs/)
  })

  it('reports a message that was accepted twice, an acknowledged message that was lost, and a final state that is not in the log', () => {
    const again = { taskId: 't2', contextId, records: recordsOf(message, status('TASK_STATE_COMPLETED')) }
    finds({ logs: [...good.logs, again] }, /taken 2 times/)
    finds({ sent: [{ messageId: 'm2', taskId }] }, /acknowledged by t1 and is not/)
    finds({ sent: [{ messageId: 'm1', taskId, state: 'TASK_STATE_CANCELED' }] }, /said to be TASK_STATE_CANCELED/)
  })

  it('reports a late or missing takeover, and requires none for an idle replica', () => {
    finds({ outages: [{ replica: 'one', at: 7_000, boundMs: 999 }] }, /after 1000 ms/)
    const upTo = records.slice(0, 7)
    finds({ logs: [{ taskId, contextId, records: upTo }], streams: [] }, /not taken over from one/)
    const none = [
      { replica: 'two', at: 7_000, boundMs: 0 },
      { replica: 'one', at: 3_000, boundMs: 0 },
      { replica: 'two', at: 60_000, boundMs: 0 },
    ]
    assert.deepEqual(checkClusterHistory({ ...good, outages: none }), [])
  })
})
