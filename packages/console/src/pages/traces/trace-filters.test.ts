import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { traceFilters, traceListQuery } from './trace-filters.ts'

const now = Date.parse('2030-01-01T12:00:00.000Z')
const asked = (text: string) => traceListQuery(traceFilters.read(new URLSearchParams(text)), now)

describe('the filters of traces', () => {
  it('become the query to the hub', () => {
    assert.deepEqual(asked('agent=a&status=ERROR&time=1h&longer=10s&errors=yes&text=%20b%20'), {
      agent: 'a',
      status: 'ERROR',
      since: '2030-01-01T11:00:00.000Z',
      minDurationMs: 10_000,
      minErrors: 1,
      text: 'b',
    })
  })

  it('are not set where the address holds none, or only unknown values', () => {
    assert.deepEqual(asked(''), {})
    assert.deepEqual(asked('status=odd&time=ever&longer=x&errors=no'), {})
    assert.equal(traceFilters.isSet(traceFilters.read(new URLSearchParams('status=odd&span=1'))), false)
    assert.equal(traceFilters.isSet(traceFilters.read(new URLSearchParams('errors=yes'))), true)
  })

  it('stay in links from trace to trace, without the other parameters', () => {
    const query = new URLSearchParams('agent=a&span=1&zoom=2')
    assert.equal(traceFilters.link('/traces/x', query), '/traces/x?agent=a')
    assert.equal(traceFilters.link('/traces/x', query, { span: '3' }), '/traces/x?agent=a&span=3')
    assert.equal(traceFilters.link('/traces', new URLSearchParams('span=1')), '/traces')
  })
})
