import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { traceListQuery, traceFiltersFromQuery, hasTraceFilters, withTraceFilters } from './trace-filters.ts'

const now = Date.parse('2030-01-01T12:00:00.000Z')
const asked = (text: string) => traceListQuery(traceFiltersFromQuery(new URLSearchParams(text)), now)

describe('the filters of traces', () => {
  it('are what the address says, as the hub is asked', () => {
    assert.deepEqual(asked('agent=a&status=ERROR&time=1h&longer=10s&errors=yes&text=%20b%20'), {
      agent: 'a',
      status: 'ERROR',
      since: '2030-01-01T11:00:00.000Z',
      minDurationMs: 10_000,
      minErrors: 1,
      text: 'b',
    })
  })

  it('are none where the address says nothing, or nothing that is known', () => {
    assert.deepEqual(asked(''), {})
    assert.deepEqual(asked('status=odd&time=ever&longer=x&errors=no'), {})
    assert.equal(hasTraceFilters(traceFiltersFromQuery(new URLSearchParams('status=odd&span=1'))), false)
    assert.equal(hasTraceFilters(traceFiltersFromQuery(new URLSearchParams('errors=yes'))), true)
  })

  it('stay when one goes from trace to trace, and the rest does not', () => {
    const query = new URLSearchParams('agent=a&span=1&zoom=2&view=graph')
    assert.equal(withTraceFilters('/traces/x', query), '/traces/x?agent=a')
    assert.equal(withTraceFilters('/traces/x', query, { view: 'graph' }), '/traces/x?agent=a&view=graph')
    assert.equal(withTraceFilters('/traces', new URLSearchParams('view=graph')), '/traces')
  })
})
