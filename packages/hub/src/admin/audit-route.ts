/** `/admin/audit`: who did what, newest first. */
import { z } from 'zod'
import type { Audit } from '../audit/audit.ts'
import type { AuditEntry } from '../audit/entry.ts'
import { type Answer, time } from './answer.ts'
import { check } from './check.ts'
import type { RouteRequest } from './route-request.ts'

const filter = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
  before: z
    .string()
    .regex(/^[0-9a-f-]{36}\.\d{1,6}$/, 'give what the page before said')
    .optional(),
  agent: z.string().optional(),
  who: z.string().optional(),
  key: z.string().optional(),
  task: z.string().optional(),
  event: z.string().optional(),
  operation: z.string().optional(),
  outcome: z.string().optional(),
})

export async function listAudit({ query }: RouteRequest, audit: Audit): Promise<Answer> {
  const { limit, before, ...wanted } = check(filter, Object.fromEntries(query))
  const matches = (entry: AuditEntry): boolean =>
    Object.entries(wanted).every(([field, value]) => value === undefined || Reflect.get(entry, field) === value)
  const page = await audit.list({ limit, before, matches })
  const entries = page.entries.map(({ at, ...entry }) => ({ at: time(at), ...entry }))
  return { status: 200, body: { entries, ...(page.before !== undefined ? { before: page.before } : {}) } }
}
