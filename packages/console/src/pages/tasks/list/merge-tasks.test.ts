import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TaskSummary } from '../../../api/admin.ts'
import { mergeTasks } from './merge-tasks.ts'

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

describe('merged tasks', () => {
  const list = [task('c', 3), task('b', 2), task('a', 1)]

  it('are in the order of their status time, without duplicates', () => {
    assert.equal(ids(mergeTasks(list, [task('d', 4), task('a', 5)])), 'adcb')
    assert.equal(ids(mergeTasks(list, [task('d', 2)])), 'cdba')
  })

  it('keep the title that was sent only once, and never an older state', () => {
    const { title: _, ...bare } = task('b', 9)
    assert.equal(mergeTasks(list, [bare])[0]?.title, 'b')
    const [, old] = mergeTasks(list, [task('b', 2, { head: 1, state: 'TASK_STATE_SUBMITTED' })])
    assert.equal(old?.state, 'TASK_STATE_WORKING')
  })
})
