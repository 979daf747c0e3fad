import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TaskSummary } from '../../../api/admin.ts'
import { matchTaskFilters, taskFilters, taskListQuery } from './task-filters.ts'

const read = (query: string) => taskFilters.read(new URLSearchParams(query))
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
  it('become the query to the hub, without empty and invalid ones', () => {
    assert.deepEqual(taskListQuery(read(''), noon), {})
    assert.equal(taskFilters.isSet(read('since=yesterday&time=never&state=everything')), false)
    assert.deepEqual(
      taskListQuery(read('agent=a&state=TASK_STATE_FAILED,TASK_STATE_WORKING&caller=b&context=c&text=+d+'), noon),
      { agent: 'a', state: ['TASK_STATE_FAILED', 'TASK_STATE_WORKING'], caller: 'b', context: 'c', text: 'd' },
    )
  })

  it('count the last hour from now, and keep a custom range as it is', () => {
    assert.deepEqual(taskListQuery(read('time=1h'), noon), { since: '2030-01-31T11:00:00.000Z' })
    const own = read('since=2030-01-01T00:00:00Z&until=2030-01-02T00:00:00Z')
    assert.equal(own.time, 'custom')
    assert.deepEqual(taskListQuery(own, noon), { since: '2030-01-01T00:00:00.000Z', until: '2030-01-02T00:00:00.000Z' })
  })
})

describe('a changed task', () => {
  it('belongs to the list if it matches every filter', () => {
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

  it('is left to the hub where the text may be in content that the page does not have', () => {
    assert.equal(matchTaskFilters(read('text=FLIGHT'), task, noon), 'yes')
    assert.equal(matchTaskFilters(read('text=metadata'), task, noon), 'ask')
    assert.equal(matchTaskFilters(read('text=flight&agent=x'), task, noon), 'no')
  })
})
