import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TaskState } from '../../model/state.ts'
import type { StreamEvent, Task } from '../../model/task.ts'
import type { EventFrame } from '../contract.ts'
import { createEventDeduper } from './dedupe-events.ts'

const about = { taskId: 't', contextId: 'c' }
const taskOf = (text: string, state: TaskState = 'TASK_STATE_WORKING', timestamp?: string): Task => ({
  id: 't',
  contextId: 'c',
  status: { state, ...(timestamp !== undefined ? { timestamp } : {}) },
  ...(text !== '' ? { artifacts: [{ artifactId: 'a', parts: [{ text }] }] } : {}),
})
const says = (text: string): StreamEvent => ({
  artifactUpdate: { ...about, artifact: { artifactId: 'a', parts: [{ text }] }, append: true },
})
const moves = (state: TaskState, timestamp?: string): StreamEvent => ({
  statusUpdate: { ...about, status: { state, ...(timestamp !== undefined ? { timestamp } : {}) } },
})
const under = (id: string | number | undefined, event: StreamEvent): EventFrame => ({
  event,
  id: id === undefined ? undefined : String(id),
  final: undefined,
})

function sieveAfter(...frames: readonly EventFrame[]) {
  const sieve = createEventDeduper(undefined, undefined)
  const take = (frame: EventFrame, joins = false): readonly StreamEvent[] =>
    sieve.filterNew(frame, joins).map((news) => sieve.record(news).event)
  for (const frame of frames) take(frame)
  return { sieve, take }
}

const begun = under(1, { task: taskOf('', 'TASK_STATE_SUBMITTED') })

describe('the deduplication of events', () => {
  it('drops an event with the same content under the same id, and requests a check of the end', () => {
    for (const [id, next] of [
      [7, 8],
      ['b3f1', 'aa02'],
    ]) {
      const { sieve, take } = sieveAfter(begun, under(id, says('x')))
      assert.deepEqual(take(under(id, says('x'))), [])
      assert.deepEqual(take(under(next, says('x'))), [says('x')])
      assert.deepEqual([sieve.cursor, sieve.hasPossibleGap], [String(next), true])
    }
  })

  it('keeps other content under the same id: some peers send the time', () => {
    const { take } = sieveAfter(begun, under(7, says('x')))
    assert.deepEqual(take(under(7, says('y'))), [says('y')])
  })

  it('drops an event with a smaller number, and requests a check of the end', () => {
    const { sieve, take } = sieveAfter(begun, under(2, says('a')), under('9007199254740995', says('c')))
    assert.deepEqual(take(under('9007199254740994', says('b'))), [])
    assert.equal(sieve.hasPossibleGap, true)
    const artifact = { artifactId: 'a', parts: [{ text: 'abc' }] }
    assert.deepEqual(sieve.missingFrom(taskOf('abc', 'TASK_STATE_COMPLETED')), [
      under(undefined, { artifactUpdate: { ...about, artifact } }),
    ])
  })

  it('drops a stream that restarts from the beginning, up to the known events', () => {
    for (const ids of [
      [1, 2, 3, 4],
      ['1', 'x', 'k', 'b'],
    ]) {
      const story = [begun.event, moves('TASK_STATE_WORKING'), says('a'), says('b')]
      const frames = story.map((event, index) => under(ids[index], event))
      const { take } = sieveAfter(...frames.slice(0, 3))
      assert.deepEqual(
        frames.flatMap((frame, index) => take(frame, index === 0)),
        [says('b')],
      )
    }
  })

  it('keeps what a snapshot adds, with its id as the cursor after these events', () => {
    const { sieve } = sieveAfter(begun, under(5, says('a')))
    const news = sieve.filterNew(under(9, { task: taskOf('abc', 'TASK_STATE_COMPLETED') }), true)
    assert.deepEqual(news, [under(undefined, says('bc')), under(9, moves('TASK_STATE_COMPLETED'))])
    for (const frame of news) sieve.record(frame)
    assert.equal(sieve.cursor, '9')
  })

  it('restarts for a peer that numbers the events of each connection', () => {
    const { take } = sieveAfter(begun, under(2, says('a')), under(3, says('b')))
    assert.deepEqual(take(under(1, { task: taskOf('abc') }), true), [says('c'), moves('TASK_STATE_WORKING')])
    assert.deepEqual(take(under(2, says('d'))), [says('d')])
  })

  it('is impossible if a peer continues without ids and without sending the task', () => {
    const { sieve } = sieveAfter(under(undefined, begun.event))
    assert.throws(() => sieve.filterNew(under(undefined, says('c')), true), { code: 'INTERRUPTED' })
    assert.deepEqual(sieveAfter().sieve.filterNew(under(undefined, says('c')), true), [under(undefined, says('c'))])
  })

  it('is impossible by ids that never repeat, as of a peer that sends the time', () => {
    const known = createEventDeduper('t', undefined, taskOf('ab'))
    assert.throws(() => known.filterNew(under('1731715200000', says('c')), true), { code: 'INTERRUPTED' })
  })

  it('returns updates to the known task, wherever the peer sends the task', () => {
    const { status: _, ...known } = taskOf('ab')
    const sieve = createEventDeduper('t', undefined, known)
    const take = (event: StreamEvent): readonly StreamEvent[] =>
      sieve.filterNew(under(undefined, event), false).map((news) => sieve.record(news).event)
    assert.deepEqual(take({ task: taskOf('abc') }), [says('c'), moves('TASK_STATE_WORKING')])
    assert.deepEqual(take({ task: taskOf('abc') }), [])
    assert.deepEqual(take(says('d')), [says('d')])
    assert.deepEqual(take({ task: taskOf('abcde', 'TASK_STATE_COMPLETED') }), [
      says('e'),
      moves('TASK_STATE_COMPLETED'),
    ])
  })

  it('drops a state that is older than the known one, unless the turn ends with it', () => {
    const at = (second: number): string => `2026-01-01T00:00:0${second}Z`
    const { take } = sieveAfter(under(undefined, moves('TASK_STATE_WORKING', at(5))))
    assert.deepEqual(take(under(undefined, moves('TASK_STATE_SUBMITTED', at(4)))), [])
    const end = moves('TASK_STATE_COMPLETED', at(4))
    assert.deepEqual(take(under(undefined, end)), [end])
  })

  it('costs no more for a long stream, with one id, separate ids or none', () => {
    // Comparing each with all before it would be 200 million comparisons.
    for (const id of [() => 'same', (n: number) => `id-${n}`, (n: number) => n, () => undefined]) {
      const { take } = sieveAfter(begun)
      const from = process.cpuUsage()
      for (let n = 2; n < 20_000; n++) take(under(id(n), says(`${n} `)))
      // CPU time, so that other load on the machine does not count.
      assert.ok(process.cpuUsage(from).user < 3_000_000)
    }
  })
})
