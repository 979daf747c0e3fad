import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { differingPaths, differencesByVersion } from './version-diff.ts'

describe('the differences of two values', () => {
  it('are the paths with another value, or with none', () => {
    const one = { a: 1, b: { c: [1, 2, { 'odd key': true }] }, d: null }
    assert.deepEqual([...differingPaths(one, one)], [])
    assert.deepEqual(
      [...differingPaths(one, { a: 2, b: { c: [1, 3, { 'odd key': false }] } })],
      ['a', 'b.c[1]', 'b.c[2]."odd key"', 'd'],
    )
    assert.deepEqual([...differingPaths({ a: [1] }, { a: { 0: 1 } })], ['a'])
    assert.deepEqual([...differingPaths({ a: 1 }, null)], [''])
  })
})

describe('an event in several versions', () => {
  const newest = { statusUpdate: { taskId: 't', status: { state: 'TASK_STATE_WORKING', timestamp: 'x' } } }
  const older = { kind: 'status-update', taskId: 't', status: { state: 'working', timestamp: 'x' }, final: false }

  it('is compared without the wrapper of 1.0', () => {
    const marks = differencesByVersion([
      { version: '1.0', payload: newest },
      { version: '0.3', payload: older },
      { version: '0.2', payload: older },
    ])
    assert.deepEqual([...(marks.get('1.0') ?? [])], ['statusUpdate', 'statusUpdate.status.state'])
    assert.deepEqual([...(marks.get('0.3') ?? [])], ['kind', 'status.state', 'final'])
    assert.deepEqual(marks.get('0.2'), marks.get('0.3'))
  })

  it('has no marks if all are the same', () => {
    const marks = differencesByVersion([
      { version: '1.0', payload: newest },
      { version: '0.3', payload: newest },
    ])
    assert.deepEqual(
      [...marks.values()].flatMap((one) => [...one]),
      [],
    )
  })
})
