/** The checker gets a valid history and, one at a time, every kind of violation. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eventOfRecord, type LogRecord, type RecordBody } from '../../packages/a2a/src/model/record.ts'
import type { TaskState } from '../../packages/a2a/src/model/state.ts'
import type { StreamEvent } from '../../packages/a2a/src/model/task.ts'
import type { SubscriberHistory } from '../cluster/check-history.ts'
import type { Arrival } from '../push/faulty-receiver.ts'
import { checkTortureHistory } from './check-torture-history.ts'
import { findLost } from './digests.ts'
import type { Execution, PolledTask, TortureHistory } from './history.ts'

const taskId = 't1'
const contextId = 'c1'
const status = (state: TaskState): RecordBody => ({ type: 'status', status: { state } })
const count = (n: number, attempt = 1, by = 'p1'): RecordBody => ({
  type: 'artifact',
  artifact: { artifactId: 'count m1', parts: [{ text: `${n} ` }], metadata: { by, attempt } },
  append: n > 0,
})
const recordsOf = (...bodies: readonly RecordBody[]): readonly LogRecord[] =>
  bodies.map((body, index) => ({ seq: index + 1, at: (index + 1) * 1_000, body }))

const message: RecordBody = {
  type: 'message',
  message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'go' }] },
}
const bodies: readonly RecordBody[] = [
  message,
  status('TASK_STATE_SUBMITTED'),
  { type: 'turn-started', turn: 1, attempt: 1, consumedSeq: 1 },
  status('TASK_STATE_WORKING'),
  count(0),
  { type: 'turn-started', turn: 1, attempt: 2, consumedSeq: 1 },
  count(1, 2, 'p2'),
  status('TASK_STATE_COMPLETED'),
]
const records = recordsOf(...bodies)
const eventAt = (seq: number): StreamEvent => {
  const event = eventOfRecord(taskId, contextId, (records[seq - 1] as LogRecord).body)
  assert.ok(event !== undefined)
  return event
}
const opening: StreamEvent = { task: { id: taskId, contextId, status: { state: 'TASK_STATE_SUBMITTED' } } }
const stream = (...seqs: readonly number[]): SubscriberHistory => ({
  subscriber: 'reader',
  taskId,
  finished: true,
  events: [{ seq: 2, event: opening }, ...seqs.map((seq) => ({ seq, event: eventAt(seq) }))],
})
const poll = (state: TaskState, text?: string, client = 'poller'): PolledTask => ({
  client,
  taskId,
  view: { state, texts: text === undefined ? {} : { 'count m1': text } },
})
const arrival = (seq: number, more: Partial<Arrival> = {}): Arrival => ({
  key: '/hook h',
  seq,
  at: 0,
  acknowledged: true,
  body: JSON.stringify(eventAt(seq)),
  ...more,
})
const run = (attempt: number, by: string, atNs: number, agent = 'counter'): Execution => ({
  agent,
  messageId: 'm1',
  attempt,
  by,
  atNs,
})

const clean: TortureHistory = {
  streams: [stream(4, 5, 7, 8)],
  sent: [{ messageId: 'm1', taskId, state: 'TASK_STATE_COMPLETED' }, { messageId: 'never accepted' }],
  polls: [
    poll('TASK_STATE_SUBMITTED'),
    poll('TASK_STATE_WORKING', '0 '),
    poll('TASK_STATE_WORKING', '0 '),
    poll('TASK_STATE_COMPLETED', '0 1 '),
    { client: 'lister', taskId, view: { state: 'TASK_STATE_COMPLETED' } },
  ],
  resends: [{ messageId: 'm1', taskIds: [taskId, taskId] }],
  listings: [{ contextId, expected: [taskId], pages: [['t2'], [taskId]] }],
  cancels: [{ taskId, outcome: 'refused' }],
  executions: [run(1, 'p0', 1), run(1, 'p1', 5), run(2, 'p2', 20)],
  acknowledgements: [{ messageId: 'm1', atNs: 10 }],
  hooks: [{ taskId, key: '/hook h' }],
  arrivals: [
    arrival(2),
    arrival(4, { acknowledged: false }),
    arrival(4),
    arrival(4),
    arrival(5),
    arrival(7),
    arrival(8),
  ],
  backups: [
    {
      name: 'backup 1',
      receivedBefore: new Map([[taskId, 5]]),
      logs: [{ taskId, contextId, records: records.slice(0, 6) }],
    },
  ],
  logs: [{ taskId, contextId, records }],
  durableAgents: [],
  hadStoreFaults: false,
}

function finds(change: Partial<TortureHistory>, problem: RegExp): void {
  const found = checkTortureHistory({ ...clean, ...change })
  assert.ok(
    found.some((sentence) => problem.test(sentence)),
    `not found: ${String(problem)}; but ${JSON.stringify(found)}`,
  )
}
const logged = (...changed: readonly RecordBody[]): Partial<TortureHistory> => ({
  logs: [{ taskId, contextId, records: recordsOf(...changed) }],
})

describe('the checker of torture histories', () => {
  it('accepts a valid history', () => {
    assert.deepEqual(checkTortureHistory(clean), [])
  })

  it('reports an acknowledged task that is gone, whichever client received it', () => {
    finds({ logs: [] }, /message m1 was acknowledged by t1 and is not in its log: lost/)
    finds({ logs: [], sent: [] }, /reader of t1 received events of a task that does not exist/)
    finds({ logs: [], sent: [], streams: [] }, /poller was shown t1, which is gone/)
  })

  it('reports a terminal state that later differs', () => {
    finds({ sent: [{ messageId: 'm1', taskId, state: 'TASK_STATE_FAILED' }] }, /said to be TASK_STATE_FAILED and is/)
    finds({ polls: [poll('TASK_STATE_FAILED', '0 1 ')] }, /the log contradicts/)
    finds({ polls: [poll('TASK_STATE_COMPLETED', '0 1 '), poll('TASK_STATE_WORKING', '0 1 ')] }, /out of order/)
    finds(logged(...bodies, status('TASK_STATE_FAILED')), /ended 2 times/)
    finds(logged(...bodies, count(2, 2, 'p2')), /went on after its end/)
  })

  it('reports a task that never ends', () => {
    finds(logged(...bodies.slice(0, -1)), /t1 is stuck/)
  })

  it('reports an event of a stream that the log lacks or has with other content', () => {
    finds(logged(...bodies.slice(0, 5), status('TASK_STATE_COMPLETED')), /acknowledged event was lost/)
    const other = { ...stream(4, 5, 7, 8) }
    const events = other.events.map((one) => (one.seq === 7 ? { seq: 7, event: eventAt(5) } : one))
    finds({ streams: [{ ...other, events }] }, /something else at 7/)
  })

  it('reports an event that a stream omitted, repeated or delivered out of order', () => {
    finds({ streams: [stream(4, 7, 8)] }, /did not receive 5/)
    finds({ streams: [stream(4, 5, 5, 7, 8)] }, /received 5 twice/)
    finds({ streams: [stream(4, 7, 5, 8)] }, /received 5 after 7: out of order/)
  })

  it('reports a snapshot that is not the task at its cursor', () => {
    const early: SubscriberHistory = { ...stream(), finished: false, events: [{ seq: 5, event: opening }] }
    finds({ streams: [early] }, /snapshot at 5 that the log contradicts/)
  })

  it('reports artifact text that contradicts the log', () => {
    finds({ polls: [poll('TASK_STATE_WORKING', '1 ')] }, /the log contradicts/)
    finds({ polls: [poll('TASK_STATE_COMPLETED', '0 1 1 ')] }, /the log contradicts/)
  })

  it('reports answers to one client that go back in time', () => {
    finds({ polls: [poll('TASK_STATE_WORKING', '0 '), poll('TASK_STATE_SUBMITTED')] }, /out of order/)
    const others = [poll('TASK_STATE_WORKING', '0 '), poll('TASK_STATE_SUBMITTED', undefined, 'another')]
    assert.deepEqual(checkTortureHistory({ ...clean, polls: others }), [])
  })

  it('reports a message that got two tasks or is in two logs', () => {
    finds({ resends: [{ messageId: 'm1', taskIds: [taskId, 't2'] }] }, /got several tasks: t1, t2/)
    const twice = [...clean.logs, { taskId: 't2', contextId, records: recordsOf(...bodies) }]
    finds({ logs: twice }, /taken 2 times/)
  })

  it('reports a list that lacks a task or has one twice', () => {
    finds({ listings: [{ contextId, expected: [taskId], pages: [['t2']] }] }, /lacks t1/)
    finds({ listings: [{ contextId, expected: [], pages: [['t2'], ['t2']] }] }, /has t2 twice/)
  })

  it('reports a race of cancel and completion with two winners', () => {
    finds({ cancels: [{ taskId, outcome: 'canceled' }] }, /two winners/)
    finds({ ...logged(...bodies.slice(0, -1)) }, /could not be canceled and never ended/)
  })

  it('reports an agent that ran twice', () => {
    finds({ executions: [run(1, 'p1', 1), run(1, 'p1', 2)] }, /twice in one process/)
    const repeated = { executions: [run(1, 'p1', 1), run(1, 'p1', 2)], hadStoreFaults: true }
    assert.deepEqual(checkTortureHistory({ ...clean, ...repeated }), [])
    finds({ ...repeated, acknowledgements: [{ messageId: 'm1', atNs: 1 }] }, /from the start again after it was ack/)
    finds({ executions: [run(2, 'p1', 1), run(2, 'p1', 2)], hadStoreFaults: true }, /twice in one process, attempt 2/)
    finds({ executions: [run(2, 'p1', 1), run(2, 'p2', 2)] }, /attempt 2 of m1 in two processes/)
    finds({ executions: [run(1, 'p1', 1), run(1, 'p2', 11)] }, /from the start again after it was acknowledged/)
    finds({ durableAgents: ['counter'] }, /ran m1 twice as attempt 1/)
    finds(logged(...bodies.slice(0, 4), count(0), count(1, 1, 'p9'), ...bodies.slice(5)), /p9/)
  })

  it('reports numbers that an agent counted twice or skipped', () => {
    finds(logged(...bodies.slice(0, 5), count(0), ...bodies.slice(5)), /counts "0 "/)
    finds(logged(...bodies.slice(0, 6), count(2, 2, 'p2'), ...bodies.slice(7)), /where 1 is due/)
  })

  it('reports a webhook that got no notification, an early one or a wrong one', () => {
    const without = (seq: number): readonly Arrival[] => clean.arrivals.filter((one) => one.seq !== seq)
    finds({ arrivals: without(8) }, /never got 8/)
    finds({ arrivals: clean.arrivals.filter(({ seq, acknowledged }) => seq !== 4 || !acknowledged) }, /never got 4/)
    finds({ arrivals: [arrival(2), arrival(5), arrival(4), arrival(7), arrival(8)] }, /5 came before 4/)
    finds({ arrivals: [...clean.arrivals, arrival(8, { seq: 9 })] }, /got 9, which is not in the log/)
    finds({ arrivals: [...clean.arrivals, arrival(8, { body: '{}' })] }, /something else at 8/)
  })

  it('reports a backup that lacks what a client received, or has something else', () => {
    const [backup] = clean.backups
    assert.ok(backup !== undefined)
    finds({ backups: [{ ...backup, receivedBefore: new Map([[taskId, 7]]) }] }, /backup 1 lacks 7 of t1/)
    finds({ backups: [{ ...backup, receivedBefore: new Map([['t9', 1]]) }] }, /backup 1 lacks 1 of t9/)
    const other = recordsOf(...bodies.slice(0, 4), count(1))
    finds({ backups: [{ ...backup, logs: [{ taskId, contextId, records: other }] }] }, /contradicts the log of t1/)
  })

  it('reports tasks of earlier rounds that are gone or have changed', () => {
    const earlier = new Map([
      ['t1', 'a'],
      ['t2', 'b'],
    ])
    assert.deepEqual(findLost(earlier, new Map(earlier)), [])
    assert.match(findLost(earlier, new Map([['t1', 'a']])).join(), /t2 was complete in an earlier round and is gone/)
    assert.match(findLost(earlier, new Map([...earlier, ['t1', 'c']])).join(), /t1 .* has changed/)
  })
})
