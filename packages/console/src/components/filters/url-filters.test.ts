import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseInstant, parseOption, parseText, setFilters, urlFilters, type FiltersOf } from './url-filters.ts'

const filters = urlFilters({
  text: parseText,
  status: parseOption([['good'], ['bad']]),
  tags: (param) => param.split(',').filter(Boolean),
  errors: (param) => param === 'yes',
  time: parseOption([['1h', 'Last hour', 3_600_000]]),
  since: parseInstant,
  until: parseInstant,
})
const read = (query: string): FiltersOf<typeof filters> => filters.read(new URLSearchParams(query))

describe('filters in the address', () => {
  it('are read by their names, and ignored where they are invalid', () => {
    assert.deepEqual(setFilters(read('text=+a+&status=bad&tags=x,y&errors=yes&time=1h&other=1')), {
      text: 'a',
      status: 'bad',
      tags: ['x', 'y'],
      errors: true,
      time: '1h',
    })
    assert.deepEqual(setFilters(read('status=odd&tags=,&errors=no&time=ever&since=yesterday')), {})
  })

  it('are custom in time when a range is set', () => {
    assert.deepEqual(setFilters(read('time=1h&since=2030-01-01')), {
      time: 'custom',
      since: '2030-01-01T00:00:00.000Z',
    })
  })

  it('know whether any is set', () => {
    assert.equal(filters.isSet(read('other=1&status=odd')), false)
    assert.equal(filters.isSet(read('tags=x')), true)
  })

  it('stay in links, without the other parameters', () => {
    const query = new URLSearchParams('text=a&zoom=2')
    assert.equal(filters.link('/x', query), '/x?text=a')
    assert.equal(filters.link('/x', query, { page: '3' }), '/x?text=a&page=3')
    assert.equal(filters.link('/x', new URLSearchParams('zoom=2')), '/x')
  })
})
