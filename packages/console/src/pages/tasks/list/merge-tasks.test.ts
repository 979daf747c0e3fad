import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TaskSummary } from '../../../api/admin.ts'
import { mergeTasks, updateTaskInPlace } from './merge-tasks.ts'

const task = (id: string, minute: number, more: Partial<TaskSummary> = {}): TaskSummary => ({
  id,
  contextId: 'c',
  agent: 'a',
  caller: 'ann',
  tenant: '',
  state: 'TASK_STATE_WORKING',
  statusAt: `2030-01-31T12:${String(minute).padStart(2, '0')}:00.000Z`,
  createdAt: '2030-01-31T12:00:00.000Z',
  title: id,
  head: minute,
  ...more,
})
const ids = (tasks: readonly TaskSummary[]): string => tasks.map(({ id }) => id).join('')

describe('the list of tasks', () => {
  const list = [task('c', 3), task('b', 2), task('a', 1)]

  it('puts what is new where its status belongs, and what is known only once', () => {
    assert.equal(ids(mergeTasks(list, [task('d', 4), task('a', 5)])), 'adcb')
    assert.equal(ids(mergeTasks(list, [task('d', 2)])), 'cdba')
  })

  it('keeps a title that is told only once, and never goes back', () => {
    const { title: _, ...bare } = task('b', 9)
    assert.equal(mergeTasks(list, [bare])[0]?.title, 'b')
    const [, old] = mergeTasks(list, [task('b', 2, { head: 1, state: 'TASK_STATE_SUBMITTED' })])
    assert.equal(old?.state, 'TASK_STATE_WORKING')
  })

  it('leaves every row where it is while the user reads', () => {
    const read = updateTaskInPlace(list, task('a', 9, { state: 'TASK_STATE_FAILED' }))
    assert.equal(ids(read), 'cba')
    assert.equal(read[2]?.state, 'TASK_STATE_FAILED')
  })
})
