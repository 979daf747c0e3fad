import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { StatSeries } from '../../components/stats/stat-charts.ts'
import { longerRange, overviewFilters, rangeStart, stepHref } from './overview-filters.ts'

const read = (query: string) => overviewFilters.read(new URLSearchParams(query))

describe('the filters of the overview', () => {
  it('are a known range and an agent', () => {
    assert.deepEqual(read('range=7d&agent=echo'), { range: '7d', agent: 'echo' })
    assert.deepEqual(read('range=2y'), { range: '', agent: '' })
    assert.deepEqual([longerRange('1h'), longerRange('30d')], ['24h', undefined])
    assert.equal(rangeStart('1h', Date.parse('2030-01-01T12:00:59Z')), '2030-01-01T11:00:00.000Z')
  })

  it('lead from a point of a chart to its tasks', () => {
    const step = { at: '2030-01-01T12:00:00.000Z' } as StatSeries['steps'][number]
    const series = { stepMs: 300_000, agent: 'echo' } as StatSeries
    const range = 'since=2030-01-01T12%3A00%3A00.000Z&until=2030-01-01T12%3A05%3A00.000Z'
    assert.equal(stepHref(series, step, 'errors'), `/tasks?agent=echo&state=TASK_STATE_FAILED&${range}`)
    assert.equal(
      stepHref({ ...series, agent: undefined } as unknown as StatSeries, step, 'requests'),
      `/tasks?${range}`,
    )
  })
})
