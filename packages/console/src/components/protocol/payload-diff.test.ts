import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { differencesByName, differingMembers } from './payload-diff.ts'

describe('the differences of two values', () => {
  const pathsOf = (one: unknown, other: unknown): readonly string[] => [
    ...(differencesByName([
      { name: 'one', value: one },
      { name: 'other', value: other },
    ]).get('one') ?? []),
  ]

  it('are the paths with another value, or with none', () => {
    const one = { a: 1, b: { c: [1, 2, { 'odd key': true }] }, d: null }
    assert.deepEqual(pathsOf(one, one), [])
    assert.deepEqual(pathsOf(one, { a: 2, b: { c: [1, 3, { 'odd key': false }] } }), [
      'a',
      'b.c[1]',
      'b.c[2]."odd key"',
      'd',
    ])
    assert.deepEqual(pathsOf({ a: [1] }, { a: { 0: 1 } }), ['a'])
    assert.deepEqual(pathsOf({ a: 1 }, null), [''])
  })

  it('are listed by member, in any order of them', () => {
    const { onlyLeft, onlyRight, changed } = differingMembers(
      { name: 'a', supportedInterfaces: [], skills: [{ a: 1 }], 'x-y': { z: 1 }, version: { b: 1, c: 2 } },
      { name: 'a', url: 'x', skills: [{ a: 1, b: 2 }], 'x-y': { z: 2 }, version: { c: 2, b: 1 } },
    )
    assert.deepEqual([onlyLeft, onlyRight, changed], [['supportedInterfaces'], ['url'], ['skills', 'x-y']])
    assert.deepEqual(differingMembers({ a: [] }, { a: {} }).changed, ['a'])
  })
})

describe('an event in several versions', () => {
  const newest = { statusUpdate: { taskId: 't', status: { state: 'TASK_STATE_WORKING', timestamp: 'x' } } }
  const older = { kind: 'status-update', taskId: 't', status: { state: 'working', timestamp: 'x' }, final: false }

  it('is compared without the wrapper of 1.0', () => {
    const marks = differencesByName([
      { name: '1.0', value: newest },
      { name: '0.3', value: older },
      { name: '0.2', value: older },
    ])
    assert.deepEqual([...(marks.get('1.0') ?? [])], ['statusUpdate', 'statusUpdate.status.state'])
    assert.deepEqual([...(marks.get('0.3') ?? [])], ['kind', 'status.state', 'final'])
    assert.deepEqual(marks.get('0.2'), marks.get('0.3'))
  })

  it('has no marks if all are the same', () => {
    const marks = differencesByName([
      { name: '1.0', value: newest },
      { name: '0.3', value: newest },
    ])
    assert.deepEqual(
      [...marks.values()].flatMap((one) => [...one]),
      [],
    )
  })
})
