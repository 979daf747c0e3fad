import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { auditCursorAfter, auditCursorTime, auditFilters, auditListQuery } from './audit-filters.ts'

const asked = (query: string): object =>
  auditListQuery(auditFilters.read(new URLSearchParams(query)), Date.UTC(2030, 0, 1, 12))

describe('the filters of the audit', () => {
  it('become the query to the hub', () => {
    assert.deepEqual(asked(''), { reads: 'no' })
    assert.deepEqual(asked('who=ann&agent=gpt&outcome=OK&text=%20a%20&reads=1&nonsense=1'), {
      who: 'ann',
      agent: 'gpt',
      outcome: 'OK',
      text: 'a',
      reads: 'yes',
    })
  })

  it('count the last hour from now, and prefer a custom range', () => {
    assert.deepEqual(asked('time=1h'), { since: '2030-01-01T11:00:00.000Z', reads: 'no' })
    assert.deepEqual(asked('time=1h&since=2029-01-01&until=nonsense'), {
      since: '2029-01-01T00:00:00.000Z',
      reads: 'no',
    })
    assert.deepEqual(asked('time=ever'), { reads: 'no' })
  })

  it('are known to be set', () => {
    assert.equal(auditFilters.isSet(auditFilters.read(new URLSearchParams(''))), false)
    assert.equal(auditFilters.isSet(auditFilters.read(new URLSearchParams('reads=1'))), true)
    assert.equal(auditFilters.isSet(auditFilters.read(new URLSearchParams('task=1'))), true)
  })
})

describe('a cursor of the audit log', () => {
  it('contains its time', () => {
    assert.equal(auditCursorTime('01890000-0000-7000-8000-000000000000.3'), 0x018900000000)
    assert.equal(auditCursorTime('nonsense'), undefined)
  })

  it('starts a page with the entry it was made from', () => {
    assert.equal(auditCursorAfter('01890000-0000-7000-8000-000000000000.3'), '01890000-0000-7000-8000-000000000000.4')
  })
})
