import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AuditEntry } from '../../../api/admin.ts'
import {
  auditListQuery,
  auditFiltersFromQuery,
  hasAuditFilters,
  auditCursorAfter,
  auditCursorTime,
  mergeNewerEntries,
} from './audit-filters.ts'

const asked = (query: string): object =>
  auditListQuery(auditFiltersFromQuery(new URLSearchParams(query)), Date.UTC(2030, 0, 1, 12))
const entry = (id: string): AuditEntry => ({ id, at: '2030-01-01T00:00:00.000Z', event: 'call' })

describe('the filters of the audit', () => {
  it('are read from the address, and asked of the hub', () => {
    assert.deepEqual(asked(''), { reads: 'no' })
    assert.deepEqual(asked('who=ann&agent=gpt&outcome=OK&text=%20a%20&reads=1&nonsense=1'), {
      who: 'ann',
      agent: 'gpt',
      outcome: 'OK',
      text: 'a',
      reads: 'yes',
    })
  })

  it('count the last hour from now, and take a span of one’s own instead', () => {
    assert.deepEqual(asked('time=1h'), { since: '2030-01-01T11:00:00.000Z', reads: 'no' })
    assert.deepEqual(asked('time=1h&since=2029-01-01&until=nonsense'), {
      since: '2029-01-01T00:00:00.000Z',
      reads: 'no',
    })
    assert.deepEqual(asked('time=ever'), { reads: 'no' })
  })

  it('are known to be set', () => {
    assert.equal(hasAuditFilters(auditFiltersFromQuery(new URLSearchParams(''))), false)
    assert.equal(hasAuditFilters(auditFiltersFromQuery(new URLSearchParams('reads=1'))), true)
    assert.equal(hasAuditFilters(auditFiltersFromQuery(new URLSearchParams('task=1'))), true)
  })
})

describe('a place in the audit', () => {
  it('has its time in it', () => {
    assert.equal(auditCursorTime('01890000-0000-7000-8000-000000000000.3'), 0x018900000000)
    assert.equal(auditCursorTime('nonsense'), undefined)
  })

  it('is asked for by the one after it', () => {
    assert.equal(auditCursorAfter('01890000-0000-7000-8000-000000000000.3'), '01890000-0000-7000-8000-000000000000.4')
  })
})

describe('entries that are new', () => {
  const ids = (all: readonly AuditEntry[] | undefined): string | undefined => all?.map(({ id }) => id).join('')

  it('are put before those that are there, each once', () => {
    assert.equal(ids(mergeNewerEntries([entry('c'), entry('d')], [entry('a'), entry('b'), entry('c')])), 'abcd')
    assert.equal(ids(mergeNewerEntries([entry('c')], [entry('c')])), 'c')
  })

  it('take their place where something between them may be missing', () => {
    assert.equal(mergeNewerEntries([entry('z')], [entry('a'), entry('b')]), undefined)
    assert.equal(mergeNewerEntries([], [entry('a')]), undefined)
  })
})
