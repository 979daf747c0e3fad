import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TaskSummary } from '../../../api/admin.ts'
import { taskListQuery, taskFiltersFromQuery, matchTaskFilters, hasTaskFilters } from './task-filters.ts'

const read = (query: string) => taskFiltersFromQuery(new URLSearchParams(query))
const noon = Date.parse('2030-01-31T12:00:00Z')

const task: TaskSummary = {
  id: '0190a1b2-c3d4',
  contextId: 'c1',
  agent: 'talker',
  caller: 'ann',
  tenant: '',
  state: 'TASK_STATE_WORKING',
  statusAt: '2030-01-31T11:50:00.000Z',
  createdAt: '2030-01-31T11:49:00.000Z',
  title: 'Book a flight',
  head: 4,
}

describe('the filters in the address', () => {
  it('are asked of the hub, and what is empty or nonsense is not', () => {
    assert.deepEqual(taskListQuery(read(''), noon), {})
    assert.equal(hasTaskFilters(read('since=yesterday&time=never&state=everything')), false)
    assert.deepEqual(
      taskListQuery(read('agent=a&state=TASK_STATE_FAILED,TASK_STATE_WORKING&caller=b&context=c&text=+d+'), noon),
      { agent: 'a', state: ['TASK_STATE_FAILED', 'TASK_STATE_WORKING'], caller: 'b', context: 'c', text: 'd' },
    )
  })

  it('reckon the last hour from now, and a span of one’s own from what it says', () => {
    assert.deepEqual(taskListQuery(read('time=1h'), noon), { since: '2030-01-31T11:00:00.000Z' })
    const own = read('since=2030-01-01T00:00:00Z&until=2030-01-02T00:00:00Z')
    assert.equal(own.time, 'custom')
    assert.deepEqual(taskListQuery(own, noon), { since: '2030-01-01T00:00:00.000Z', until: '2030-01-02T00:00:00.000Z' })
  })
})

describe('a task that the stream tells', () => {
  it('belongs to the list if it fits every filter', () => {
    const fit = (query: string) => matchTaskFilters(read(query), task, noon)
    assert.equal(fit(''), 'yes')
    assert.equal(fit('agent=talker&state=TASK_STATE_WORKING&caller=ann&context=c1&time=15m'), 'yes')
    for (const other of [
      'agent=x',
      'state=TASK_STATE_FAILED',
      'caller=bob',
      'context=c2',
      'until=2030-01-31T11:50:00Z',
    ])
      assert.equal(fit(other), 'no', other)
    assert.equal(matchTaskFilters(read('time=15m'), task, noon + 3_600_000), 'no')
  })

  it('is looked up where its text may stand elsewhere', () => {
    assert.equal(matchTaskFilters(read('text=FLIGHT'), task, noon), 'yes')
    assert.equal(matchTaskFilters(read('text=metadata'), task, noon), 'ask')
    assert.equal(matchTaskFilters(read('text=flight&agent=x'), task, noon), 'no')
  })
})
