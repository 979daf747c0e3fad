import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createLogBuffer } from './log-buffer.ts'

describe('the log buffer', () => {
  it('returns the lines after a position', () => {
    const buffer = createLogBuffer()
    for (const json of ['a', 'b', 'c']) buffer.add('info', json)
    assert.deepEqual(
      buffer.after(1).map(({ position, json }) => [position, json]),
      [
        [2, 'b'],
        [3, 'c'],
      ],
    )
    assert.deepEqual(buffer.after(3), [])
  })

  it('keeps the newest lines, bounded by their number and length', () => {
    const few = createLogBuffer({ maxLines: 2 })
    for (let line = 1; line <= 9; line += 1) few.add('info', String(line))
    assert.deepEqual(few.after(0).map(({ json }) => json), ['8', '9']) // prettier-ignore
    const short = createLogBuffer({ maxLength: 10 })
    for (let line = 1; line <= 9; line += 1) short.add('info', 'x'.repeat(4))
    assert.deepEqual(short.after(0).map(({ position }) => position), [8, 9]) // prettier-ignore
    short.add('info', 'y'.repeat(50))
    assert.deepEqual(short.after(0).map(({ position }) => position), [10]) // prettier-ignore
  })

  it('notifies each listener once, and not one that left', () => {
    const buffer = createLogBuffer()
    const calls: string[] = []
    buffer.onNext(() => void calls.push('one'))
    buffer.onNext(() => void calls.push('two'))()
    buffer.add('info', 'a')
    buffer.add('info', 'b')
    assert.deepEqual(calls, ['one'])
  })
})
