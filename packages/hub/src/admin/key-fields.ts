/** A key as it is ordered and as it is shown. The key itself is in the answer to the request that made it and nowhere else. */
import { z } from 'zod'
import type { KeyInfo } from '../auth/key-record.ts'
import type { KeyOrder } from '../auth/keys.ts'
import { adminScope, whatIsWrongWithScope } from '../auth/scopes.ts'
import { duration, type Rate } from '../config/values.ts'
import { RouteError, time } from './answer.ts'
import { instant } from './fields.ts'

export const keyName = z.string().trim().min(1, 'give it a name').max(100, 'is longer than 100 characters')

export const scopes = z
  .array(
    z.string().superRefine((scope, context) => {
      const wrong =
        scope === adminScope ? 'a key does not run the hub: sign in, or use a token' : whatIsWrongWithScope(scope)
      if (wrong !== undefined) context.addIssue({ code: 'custom', message: wrong })
    }),
  )
  .max(200, 'name up to 200 scopes')

/** When it ends: a time, or how long it lasts. */
export const ending = {
  expiresAt: z.iso.datetime({ offset: true, error: 'give a time such as 2030-01-31T12:00:00Z' }).optional(),
  expiresIn: duration.optional(),
}

export const keyInfo = z
  .strictObject({
    id: z.string(),
    prefix: z.string().meta({ description: 'The part of the key that is no secret.' }),
    name: z.string(),
    state: z.enum(['active', 'expired', 'revoked']),
    scopes: z.array(z.string()),
    principal: z.string().meta({ description: 'Whose tasks are opened with it.' }),
    tenant: z.string().optional(),
    rate: z.string().optional(),
    tasksPerDay: z.int().optional(),
    createdAt: instant,
    createdBy: z.string(),
    expiresAt: instant.optional(),
    revokedAt: instant.optional(),
    lastUsedAt: instant.optional(),
  })
  .meta({ id: 'Key' })

export const madeKey = z
  .strictObject({ key: z.string().meta({ description: 'Shown only now.' }), ...keyInfo.shape })
  .meta({ id: 'MadeKey' })

/** With times and rates as people write them. */
export function shownKey({ rate: limit, createdAt, expiresAt, revokedAt, lastUsedAt, ...info }: KeyInfo) {
  return {
    ...info,
    scopes: [...info.scopes],
    ...(limit !== undefined ? { rate: rateText(limit) } : {}),
    createdAt: time(createdAt),
    ...(expiresAt !== undefined ? { expiresAt: time(expiresAt) } : {}),
    ...(revokedAt !== undefined ? { revokedAt: time(revokedAt) } : {}),
    ...(lastUsedAt !== undefined ? { lastUsedAt: time(lastUsedAt) } : {}),
  }
}

const windows: readonly (readonly [ms: number, unit: string])[] = [
  [86_400_000, 'day'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
]

/** As the configuration would say it. */
function rateText({ count, windowMs }: Rate): string {
  const [ms, unit] = windows.find(([length]) => windowMs % length === 0) ?? [1_000, 's']
  return `${count}/${windowMs === ms ? '' : windowMs / ms}${unit}`
}

/** The earlier of the two, where both are said. */
export function endOf(
  { expiresAt, expiresIn }: { readonly expiresAt?: string | undefined; readonly expiresIn?: number | undefined },
  now: number,
): KeyOrder['expiresAt'] {
  const ends = [
    ...(expiresAt === undefined ? [] : [Date.parse(expiresAt)]),
    ...(expiresIn === undefined ? [] : [now + expiresIn]),
  ]
  if (ends.length === 0) return undefined
  const end = Math.min(...ends)
  if (end <= now) throw invalid('expiresAt', 'is over already')
  return end
}

export function invalid(field: string, description: string): RouteError {
  return new RouteError('INVALID_PARAMS', `${field}: ${description}`, { violations: [{ field, description }] })
}
