/** The schema of a key in requests and responses. The key itself appears only in the response to the request that created it. */
import { z } from 'zod'
import type { KeyInfo } from '../auth/key-format.ts'
import type { CreateKeyOptions } from '../auth/api-keys.ts'
import { adminScope, validateScope } from '../auth/scopes.ts'
import { duration, type Rate } from '../config/values.ts'
import { RouteError, isoTime } from '../http/json-response.ts'
import { timestamp } from './route.ts'

export const keyName = z.string().trim().min(1, 'must not be empty').max(100, 'is longer than 100 characters')

export const scopesField = z
  .array(
    z.string().superRefine((scope, context) => {
      const problem =
        scope === adminScope ? 'keys cannot have the scope admin: sign in, or use a token' : validateScope(scope)
      if (problem !== undefined) context.addIssue({ code: 'custom', message: problem })
    }),
  )
  .max(200, 'at most 200 scopes are accepted')

/** Expiry: a time, or a duration. */
export const expiryFields = {
  expiresAt: z.iso.datetime({ offset: true, error: 'must be a time such as 2030-01-31T12:00:00Z' }).optional(),
  expiresIn: duration.optional(),
}

export const keyInfo = z
  .strictObject({
    id: z.string(),
    prefix: z.string().describe('The public part of the key.'),
    name: z.string(),
    state: z.enum(['active', 'expired', 'revoked']),
    scopes: z.array(z.string()),
    principal: z.string().describe('The owner of the tasks created with it.'),
    tenant: z.string().optional(),
    rate: z.string().optional(),
    tasksPerDay: z.int().optional(),
    createdAt: timestamp,
    createdBy: z.string(),
    expiresAt: timestamp.optional(),
    revokedAt: timestamp.optional(),
    lastUsedAt: timestamp.optional(),
  })
  .meta({ id: 'Key' })

export const createdKey = z
  .strictObject({ key: z.string().describe('Shown only now.'), ...keyInfo.shape })
  .meta({ id: 'MadeKey' })

/** With times and rates in readable form. */
export function keyToJson({
  rate: limit,
  createdAt,
  expiresAt,
  revokedAt,
  lastUsedAt,
  isCallerKey: _,
  ...info
}: KeyInfo) {
  return {
    ...info,
    scopes: [...info.scopes],
    ...(limit !== undefined ? { rate: rateText(limit) } : {}),
    createdAt: isoTime(createdAt),
    ...(expiresAt !== undefined ? { expiresAt: isoTime(expiresAt) } : {}),
    ...(revokedAt !== undefined ? { revokedAt: isoTime(revokedAt) } : {}),
    ...(lastUsedAt !== undefined ? { lastUsedAt: isoTime(lastUsedAt) } : {}),
  }
}

const windows: readonly (readonly [ms: number, unit: string])[] = [
  [86_400_000, 'day'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
]

/** In the format of the configuration. */
function rateText({ count, windowMs }: Rate): string {
  const [ms, unit] = windows.find(([length]) => windowMs % length === 0) ?? [1_000, 's']
  return `${count}/${windowMs === ms ? '' : windowMs / ms}${unit}`
}

/** The earlier of the two, if both are given. */
export function keyExpiry(
  { expiresAt, expiresIn }: { readonly expiresAt?: string | undefined; readonly expiresIn?: number | undefined },
  now: number,
): CreateKeyOptions['expiresAt'] {
  const ends = [
    ...(expiresAt === undefined ? [] : [Date.parse(expiresAt)]),
    ...(expiresIn === undefined ? [] : [now + expiresIn]),
  ]
  if (ends.length === 0) return undefined
  const end = Math.min(...ends)
  if (end <= now) throw invalidFieldError('expiresAt', 'is in the past')
  return end
}

export function invalidFieldError(field: string, description: string): RouteError {
  return new RouteError('INVALID_PARAMS', `${field}: ${description}`, { violations: [{ field, description }] })
}
