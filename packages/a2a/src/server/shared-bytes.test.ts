import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { StreamItem } from '../engine/contract.ts'
import { cursorExtension } from '../model/extension.ts'
import type { StreamEvent, Task } from '../model/task.ts'
import { versions } from '../versions/index.ts'
import type { Dialect } from '../versions/version.ts'
import { withCursor } from './extensions.ts'
import { createSharedBytes } from './shared-bytes.ts'

const task: Task = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } }
const event: StreamEvent = { statusUpdate: { taskId: 't', contextId: 'c', status: task.status, metadata: { own: 1 } } }

function counting(dialect: Dialect): Dialect & { encoded: number } {
  const counted = {
    ...dialect,
    encoded: 0,
    encodeEvent(given: StreamEvent) {
      counted.encoded += 1
      return dialect.encodeEvent(given)
    },
    encodeResult: ((...args: Parameters<Dialect['encodeResult']>) => {
      counted.encoded += 1
      return dialect.encodeResult(...args)
    }) as Dialect['encodeResult'],
  }
  return counted
}

describe('shared bytes', () => {
  it('are encoded once a dialect, for events and for tasks', () => {
    const bytes = createSharedBytes()
    const dialects = versions.map(({ json }) => counting(json))
    for (let reader = 0; reader < 3; reader++) {
      for (const dialect of dialects) {
        assert.equal(bytes.event(dialect, event), dialect.encodeEvent(event))
        assert.equal(bytes.task(dialect, task), dialect.encodeResult('GetTask', task))
      }
    }
    // Three readers compared three times each, and made two themselves.
    assert.deepEqual(
      dialects.map(({ encoded }) => encoded - 3 * 2),
      [2, 2, 2],
    )
  })
})

describe('the mark of a cursor', () => {
  const item = (over: Partial<StreamItem> = {}): StreamItem => ({ event, seq: 4, final: false, ...over })

  it('is shared, keeps the metadata, and is made anew for another place', () => {
    const marked = withCursor(item())
    assert.equal(withCursor(item()), marked)
    assert.deepEqual((marked as typeof event).statusUpdate.metadata, { own: 1, [cursorExtension]: { cursor: '4' } })
    assert.notEqual(withCursor(item({ seq: 5 })), marked)
    assert.deepEqual(event.statusUpdate.metadata, { own: 1 })
  })

  it('says where events are missing', () => {
    const marked = withCursor(item({ event: { task }, gap: true }))
    assert.deepEqual('task' in marked && marked.task.metadata, { [cursorExtension]: { cursor: '4', gap: true } })
  })

  it('is left off what has no place in a log', () => {
    const { seq: _, ...bare } = item()
    assert.equal(withCursor(bare), event)
  })
})
