/** `/admin/erasures`: erases all data of a caller, and shows the receipts. `/admin/prune`: what retention removes. */
import { z } from 'zod'
import { excludedData, noCounts, type ErasureRecord } from '../../erase/erasure-record.ts'
import type { ErasureService } from '../../erase/erasure-service.ts'
import { isoTime, RouteError } from '../../http/json-response.ts'
import type { RetentionEstimate, RetentionService } from '../../retention/retention-service.ts'
import { type AdminRoute, jsonRoute, limitField, taggedRoutes, timestamp } from '../route.ts'

export interface ErasureRoutesDeps {
  readonly erasures: Pick<ErasureService, 'preview' | 'request' | 'get' | 'list'>
  readonly retention: Pick<RetentionService, 'preview' | 'prune'>
}

/** Also checked by `parley erase`, which may work without a hub. */
export const caller = z
  .string()
  .min(1, 'is empty')
  .max(1_024, 'is longer than 1024 characters')
  .refine((name) => name !== 'admin', 'is the operator, not a caller')
  .describe('The principal: the owner of its tasks, such as `key:<id>` or `<issuer>|<subject>`.')

const counts = z.strictObject(
  Object.fromEntries(Object.keys(noCounts).map((name) => [name, z.int()])) as Record<keyof typeof noCounts, z.ZodInt>,
)

const erasure = z
  .strictObject({
    id: z.string(),
    state: z
      .enum(['running', 'settling', 'compacting', 'done'])
      .describe('`settling`: waits for what other replicas still have in memory.'),
    pseudonym: z.string().describe('What the audit shows instead of the caller. Random.'),
    requestedBy: z.string(),
    requestedAt: timestamp,
    finishedAt: timestamp.optional(),
    counts: counts.describe('What was erased so far, by kind.'),
    compaction: z
      .strictObject({
        isDone: z.boolean(),
        reason: z.string().optional(),
        bytesBefore: z.number().optional(),
        bytesAfter: z.number().optional(),
      })
      .optional()
      .describe('Whether the store was rewritten without its free space. Absent: not requested, or not yet.'),
    excluded: z.array(z.string()).describe('Copies that the erasure does not reach.'),
  })
  .meta({ id: 'Erasure' })

const estimate = z
  .strictObject({
    kind: z.enum([
      'tasks',
      'logs',
      'snapshots',
      'blobs',
      'pushConfigs',
      'pushAttempts',
      'messageClaims',
      'entries',
      'audit',
      'traces',
    ]),
    entryKind: z.string().optional().describe('The kind of expired key-value entries.'),
    rows: z.int(),
    bytes: z.number().describe('Approximate.'),
    oldest: timestamp.optional(),
    newest: timestamp.optional(),
  })
  .meta({ id: 'RetentionEstimate' })

export function erasureRoutes({ erasures, retention }: ErasureRoutesDeps): readonly AdminRoute[] {
  return taggedRoutes('Erasure', [
    jsonRoute('POST /admin/erasures', {
      name: 'eraseCaller',
      summary: 'Erases all data of a caller. The same request again continues an unfinished erasure.',
      body: z.strictObject({
        caller,
        compact: z.boolean().default(true).describe('Whether to rewrite the store without its free space at the end.'),
      }),
      status: 201,
      response: erasure,
      event: 'erasure.requested',
      handle: async ({ body, who }) => erasureToJson(await erasures.request({ ...body, requestedBy: who.subject })),
    }),
    jsonRoute('POST /admin/erasures/preview', {
      name: 'previewErasure',
      summary: 'Counts what an erasure would remove, and changes nothing.',
      body: z.strictObject({ caller }),
      response: z.strictObject({ counts, excluded: z.array(z.string()) }),
      handle: async ({ body }) => ({ counts: await erasures.preview(body.caller), excluded: [...excludedData] }),
    }),
    jsonRoute('GET /admin/erasures', {
      name: 'listErasures',
      summary: 'Lists the receipts of erasures, newest first.',
      query: z.strictObject({ limit: limitField(100, 1_000) }),
      response: z.strictObject({ erasures: z.array(erasure) }),
      handle: async ({ query }) => ({ erasures: (await erasures.list(query.limit)).map(erasureToJson) }),
    }),
    jsonRoute('GET /admin/erasures/{id}', {
      name: 'getErasure',
      summary: 'Shows the progress of an erasure, or its receipt.',
      params: z.object({ id: z.string().max(64) }),
      response: erasure,
      async handle({ params: { id } }) {
        const record = await erasures.get(id)
        if (record === undefined) throw new RouteError('NOT_FOUND', `Unknown erasure ${id}`)
        return erasureToJson(record)
      },
    }),
    jsonRoute('GET /admin/prune', {
      name: 'previewPrune',
      summary: 'Counts what is older than the retention settings allow, and changes nothing.',
      response: z.strictObject({ estimates: z.array(estimate) }),
      handle: async () => ({ estimates: (await retention.preview()).map(estimateToJson) }),
    }),
    jsonRoute('POST /admin/prune', {
      name: 'prune',
      summary: 'Removes it now, instead of with the next sweeps.',
      response: z.strictObject({ estimates: z.array(estimate) }),
      handle: async () => ({ estimates: (await retention.prune()).map(estimateToJson) }),
    }),
  ])
}

/** The caller is not part of it: the receipt is kept. */
export function erasureToJson(record: ErasureRecord) {
  const { id, state, pseudonym, requestedBy, requestedAt, finishedAt, counts: erased, compaction } = record
  return {
    id,
    state,
    pseudonym,
    requestedBy,
    requestedAt: isoTime(requestedAt),
    ...(finishedAt !== undefined ? { finishedAt: isoTime(finishedAt) } : {}),
    counts: erased,
    ...(compaction !== undefined ? { compaction } : {}),
    excluded: [...excludedData],
  }
}

export function estimateToJson({ oldest, newest, ...rest }: RetentionEstimate) {
  const times = oldest === undefined || newest === undefined ? {} : { oldest: isoTime(oldest), newest: isoTime(newest) }
  return { ...rest, ...times }
}
