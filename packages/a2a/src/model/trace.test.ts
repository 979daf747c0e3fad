import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newId } from './id.ts'
import { spanIdOfEvent, traceIdOf, traceIdOfTask } from './trace.ts'

describe('the trace of an event', () => {
  it('is read off a traceparent, and off nothing that only looks like one', () => {
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

  it('is that of its task where nobody traced it, whatever the id of the task looks like', () => {
    const id = newId()
    assert.equal(traceIdOfTask(id), id.replaceAll('-', ''))
    for (const odd of ['t1', '', '0'.repeat(32), 'x'.repeat(300)]) {
      assert.match(traceIdOfTask(odd), /^(?!0{32})[\da-f]{32}$/)
    }
    assert.notEqual(traceIdOfTask('t1'), traceIdOfTask('t2'))
  })

  it('has a span for each place in each task, the same for everybody', () => {
    const spans = ['a', 'b'].flatMap((task) => [1, 2, 3, 1_000].map((seq) => spanIdOfEvent(task, seq)))
    assert.equal(new Set(spans).size, spans.length)
    for (const span of spans) assert.match(span, /^(?!0{16})[\da-f]{16}$/)
    assert.equal(spanIdOfEvent('a', 1), spans[0])
  })
})
