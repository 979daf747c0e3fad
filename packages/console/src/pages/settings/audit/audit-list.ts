/** How the audit list is loaded. The change feed has no events for audit entries, but every change writes one. */
import type { AuditEntry } from '../../../api/admin.ts'
import { callAdmin } from '../../../api/admin-client.ts'
import type { PagedListOptions } from '../../../api/paged-list.ts'
import { auditListQuery } from './audit-filters.ts'
import type { AuditFilters } from './audit-filters.ts'

const pageSize = 100

export function auditListOptions(filters: AuditFilters): PagedListOptions<AuditEntry> {
  // "The last hour" stays the same for every page.
  const baseQuery = auditListQuery(filters, Date.now())
  return {
    keyOf: ({ id }) => id,
    settleMs: 1_000,
    async load(before, signal) {
      const query = { ...baseQuery, limit: pageSize, ...(before === undefined ? {} : { before: String(before) }) }
      const page = await callAdmin('listAudit', { query, signal })
      return { items: page.entries, before: page.before }
    },
    onChange: (_, list) => list.scheduleRefresh(),
  }
}
