import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newId } from './id.ts'
import {
  readTraceparent,
  readTracestate,
  spanIdOfEvent,
  spanIdOfPush,
  spanIdOfTurn,
  traceIdOf,
  traceIdOfTask,
  traceparentOf,
} from './trace.ts'

describe('the trace of an event', () => {
  it('is read from a traceparent, and from no invalid one', () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
    assert.equal(traceIdOf(`00-${traceId}-00f067aa0ba902b7-01`), traceId)
    for (const wrong of [
      undefined,
      '',
      `ff-${traceId}-00f067aa0ba902b7-01`,
      `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
      `00-${traceId}-${'0'.repeat(16)}-01`,
      `00-${traceId.toUpperCase()}-00f067aa0ba902b7-01`,
      `00-${traceId}-00f067aa0ba902b7-01\r\nx: y`,
    ]) {
      assert.equal(traceIdOf(wrong), undefined)
    }
  })

  it('is that of its task if no request had one, for any task id [S4-18]', () => {
    const id = newId()
    assert.equal(traceIdOfTask(id), id.replaceAll('-', ''))
    for (const odd of ['t1', '', '0'.repeat(32), 'x'.repeat(300)]) {
      assert.match(traceIdOfTask(odd), /^(?!0{32})[\da-f]{32}$/)
    }
    assert.notEqual(traceIdOfTask('t1'), traceIdOfTask('t2'))
  })

  it('has one span per event of each task, the same for all readers', () => {
    const spans = ['a', 'b'].flatMap((task) => [1, 2, 3, 1_000].map((seq) => spanIdOfEvent(task, seq)))
    assert.equal(new Set(spans).size, spans.length)
    for (const span of spans) assert.match(span, /^(?!0{16})[\da-f]{16}$/)
    assert.equal(spanIdOfEvent('a', 1), spans[0])
  })

  it('has distinct spans for the task, its events, its turns, their spans and push notifications', () => {
    const taskId = newId()
    const numbers = Array.from({ length: 40 }, (_, index) => index)
    const spans = [
      ...numbers.map((seq) => spanIdOfEvent(taskId, seq)),
      ...numbers.flatMap((turn) =>
        [1, 2].flatMap((attempt) => [0, 1, 2, 11, 12].map((nth) => spanIdOfTurn(taskId, turn, attempt, nth))),
      ),
      ...numbers.flatMap((seq) => [1, 2, 11].map((attempt) => spanIdOfPush(taskId, 'hook', seq, attempt))),
    ]
    assert.equal(new Set(spans).size, spans.length)
  })
})

describe('a traceparent', () => {
  const context = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', isSampled: true }

  it('is read into its parts and written again [B-171]', () => {
    assert.deepEqual(readTraceparent(traceparentOf(context)), context)
    assert.deepEqual(readTraceparent(traceparentOf({ ...context, isSampled: false })), { ...context, isSampled: false })
    assert.equal(readTraceparent('nonsense'), undefined)
    assert.equal(readTraceparent(undefined), undefined)
  })

  it('is forwarded with the one supported flag, in the supported version', () => {
    const newer = readTraceparent(`cc-${context.traceId}-${context.spanId}-fd`)
    assert.equal(newer && traceparentOf(newer), `00-${context.traceId}-${context.spanId}-01`)
  })

  it('may have a tracestate, which is forwarded unchanged unless it is no valid header', () => {
    assert.equal(readTracestate('rojo=00f067aa0ba902b7,congo=t61rcWkgMzE'), 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE')
    for (const wrong of [undefined, '', 'a=b\r\nx: y', 'a=ü', `a=${'b'.repeat(512)}`])
      assert.equal(readTracestate(wrong), undefined)
  })
})
