import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TaskSummary } from '../../api/admin.ts'
import { matchesConversation, recentConversations } from './recent-conversations.ts'

const task = (id: string, contextId: string, agent: string, second: number, title: string): TaskSummary => ({
  id,
  contextId,
  agent,
  caller: 'console|admin',
  tenant: '',
  state: 'TASK_STATE_COMPLETED',
  statusAt: `2030-01-31T12:00:${second}.000Z`,
  createdAt: `2030-01-31T12:00:${second}.000Z`,
  title,
  head: 1,
})

describe('conversations', () => {
  const recent = recentConversations([
    task('t3', 'c1', 'talker', 30, 'And then'),
    task('t2', 'c2', 'clock', 20, '10'),
    task('t1', 'c1', 'talker', 10, 'Hello'),
    task('t0', 'c1', 'other', 5, 'With another'),
  ])

  it('group the tasks of a context and an agent, titled by the first', () => {
    assert.deepEqual(
      recent.map(({ taskId, title, tasks }) => [taskId, title, tasks]),
      [
        ['t3', 'Hello', 2],
        ['t2', '10', 1],
        ['t0', 'With another', 1],
      ],
    )
  })

  it('are found by agent, text and ids', () => {
    const found = (filter: string) =>
      recent.filter((one) => matchesConversation(one, filter)).map(({ taskId }) => taskId)
    assert.deepEqual(found('talker hel'), ['t3'])
    assert.deepEqual(found('c2'), ['t2'])
    assert.deepEqual(found(''), ['t3', 't2', 't0'])
  })
})
