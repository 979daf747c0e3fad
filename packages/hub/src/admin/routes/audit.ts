/** `/admin/audit`: who did what, newest first. */
import { omitUndefined } from '@parley/a2a/internal'
import { z } from 'zod'
import type { AuditLog, AuditEntry } from '../../audit/audit-log.ts'
import { isAuditCursor, type AuditReader } from '../../audit/audit-reader.ts'
import type { ApiKeys } from '../../auth/api-keys.ts'
import { isoTime } from '../../http/json-response.ts'
import { callerName } from '../caller-names.ts'
import { timestamp, limitField, timeQuery, type AdminRoute, jsonRoute, taggedRoutes } from '../route.ts'

const filters = {
  agent: z.string().optional(),
  who: z.string().optional().describe('The principal, or `admin`.'),
  key: z.string().optional().describe('The id of the key that was used, or that was changed.'),
  task: z.string().optional(),
  event: z.string().optional(),
  operation: z.string().optional(),
  outcome: z.string().optional().describe('`OK`, or the code of the error.'),
}

const entry = z
  .strictObject({
    id: z.string().describe('Its position. Pass the last number plus one as `before` to start a page with it.'),
    at: timestamp,
    ...filters,
    whoName: z.string().optional().describe('The name of the API key of `who`, in lists.'),
    event: z.string(),
    binding: z.string().optional(),
    version: z.string().optional(),
    state: z.string().optional(),
    status: z.int().optional(),
    from: z.string().optional(),
    durationMs: z.number().optional(),
    count: z.int().optional(),
  })
  .meta({ id: 'AuditEntry' })

const cursorField = z
  .string()
  .refine(isAuditCursor, 'must be the `after` of a previous page')
  .optional()
  .describe('The `after` of the previous page. Default: the oldest entry.')

/** The export: everything, oldest first, in pages that miss nothing. */
export function auditExportRoutes({
  audit,
  reader,
}: {
  readonly audit: Pick<AuditLog, 'flush'>
  readonly reader: AuditReader
}): readonly AdminRoute[] {
  return taggedRoutes('Audit', [
    jsonRoute('GET /admin/audit/export', {
      name: 'exportAudit',
      summary: 'Returns all audit entries, oldest first.',
      description:
        'At least once: an entry may be returned twice, with the same id, but none is left out. On a store of several replicas an entry is returned when it is 15 seconds old.',
      query: z.strictObject({
        after: cursorField,
        since: timeQuery.optional().describe('Inclusive.'),
        limit: limitField(500, 5_000),
      }),
      response: z.strictObject({
        entries: z.array(entry),
        after: z.string().describe('The cursor to continue from, also if there are no more entries now.'),
        isEnd: z.boolean().describe('Whether there are no more entries now.'),
      }),
      async handle({ query: { after, since, limit } }) {
        await audit.flush()
        const page = await reader.read(after ?? reader.start(since), limit)
        const entries = page.entries
          .filter(({ at }) => at >= (since ?? 0))
          .map(({ at, ...rest }) => ({ at: isoTime(at), ...rest }))
        return { entries, after: page.cursor, isEnd: page.isEnd }
      },
    }),
  ])
}

export function auditRoutes(audit: Pick<AuditLog, 'list'>, keys: Pick<ApiKeys, 'nameOf'>): readonly AdminRoute[] {
  return taggedRoutes('Audit', [
    jsonRoute('GET /admin/audit', {
      name: 'listAudit',
      summary: 'Lists who did what, newest first.',
      description: 'A page can be empty although more follow: each page searches a limited number of entries.',
      query: z.strictObject({
        limit: limitField(100, 1_000),
        before: z
          .string()
          .regex(/^[0-9a-f-]{36}\.\d{1,6}$/, 'must be the value returned by the previous page')
          .optional(),
        ...filters,
        since: timeQuery.optional().describe('Inclusive.'),
        until: timeQuery.optional().describe('Exclusive.'),
        text: z.string().max(256).optional().describe('A text in any field, case-insensitive.'),
        reads: z.enum(['yes', 'no']).default('yes').describe('Whether reads by admins are listed, too.'),
      }),
      response: z.strictObject({ entries: z.array(entry), before: z.string().optional() }),
      async handle({ query: { limit: most, before, since, until = Infinity, text = '', reads, ...fields } }) {
        const needle = text.toLowerCase()
        const matches = (one: AuditEntry): boolean =>
          one.at < until &&
          Object.entries(fields).every(([field, value]) => value === undefined || Reflect.get(one, field) === value) &&
          (reads === 'yes' || !isRead(one)) &&
          (needle === '' || containsText(one, needle))
        const page = await audit.list({ limit: most, before, matches, since })
        const entries = page.entries.map(async ({ at, ...rest }) => ({
          at: isoTime(at),
          ...rest,
          ...omitUndefined({ whoName: await callerName(rest.who ?? '', keys) }),
        }))
        return { entries: await Promise.all(entries), ...(page.before !== undefined ? { before: page.before } : {}) }
      },
    }),
  ])
}

/** POST requests that change nothing. */
const readOnlyPosts: ReadonlySet<string> = new Set([
  'POST /admin/config/check',
  'POST /admin/config/diff',
  'POST /admin/routes/decide',
  'POST /admin/erasures/preview',
])

/** Requests that an open console repeats all day. */
function isRead({ event, operation = '', outcome }: AuditEntry): boolean {
  return event === 'admin' && outcome === 'OK' && (/^(GET|HEAD) /.test(operation) || readOnlyPosts.has(operation))
}

function containsText(entry: AuditEntry, needle: string): boolean {
  return Object.entries(entry).some(([field, value]) => field !== 'at' && String(value).toLowerCase().includes(needle))
}
