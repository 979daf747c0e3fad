/** `/admin/keys`: makes, lists and revokes keys. A key is in the answer to the request that made it and nowhere else. */
import { z } from 'zod'
import type { KeyInfo } from '../auth/key-record.ts'
import type { KeyOrder, Keys } from '../auth/keys.ts'
import { whatIsWrongWithScope } from '../auth/scopes.ts'
import { duration, rate, type Rate } from '../config/values.ts'
import { type Answer, notFound, RouteError, time } from './answer.ts'
import { check } from './check.ts'
import type { RouteRequest } from './route-request.ts'

export const keyName = z.string().trim().min(1, 'give it a name').max(100, 'is longer than 100 characters')

export const scopes = z
  .array(
    z.string().superRefine((scope, context) => {
      const wrong = whatIsWrongWithScope(scope)
      if (wrong !== undefined) context.addIssue({ code: 'custom', message: wrong })
    }),
  )
  .max(200, 'name up to 200 scopes')

/** When it ends: a time, or how long it lasts. */
export const ending = {
  expiresAt: z.iso.datetime({ offset: true, error: 'give a time such as 2030-01-31T12:00:00Z' }).optional(),
  expiresIn: duration.optional(),
}

const order = z.strictObject({
  name: keyName.optional(),
  /** `agents: [gpt]` is `scopes: [agent:gpt]`. */
  agents: z.array(z.string()).max(200).optional(),
  scopes: scopes.optional(),
  principal: z
    .string()
    .min(1, 'is empty')
    .max(256, 'is longer than 256 characters')
    .refine((principal) => principal !== 'anonymous' && principal !== 'admin', 'is taken')
    .optional(),
  tenant: z.string().min(1).max(256).optional(),
  rate: rate.optional(),
  tasksPerDay: z.int().positive().optional(),
  ...ending,
  /** Everything that is not said is as it is with this key; tasks go on with the new one. */
  replaces: z.string().max(64).optional(),
})

/** Answers the key, and tells `made` of it. */
export async function createKey(
  request: RouteRequest,
  keys: Keys,
  now: number,
): Promise<Answer & { readonly id: string }> {
  const asked = check(order, (await request.json()) ?? {})
  const before = asked.replaces === undefined ? undefined : await keys.get(asked.replaces)
  if (asked.replaces !== undefined && before === undefined) throw invalid('replaces', 'there is no such key')
  const named = [...(asked.agents ?? []).map((agent) => `agent:${agent}`), ...(asked.scopes ?? [])]
  const granted =
    named.length > 0 ? check(z.strictObject({ agents: scopes }), { agents: named }).agents : before?.scopes
  if (granted === undefined) throw invalid('scopes', 'say what it is for: agents: [<name>], or scopes')
  const name = asked.name ?? before?.name
  if (name === undefined) throw invalid('name', 'give it a name')
  const made = await keys.create({
    name,
    scopes: granted,
    principal: asked.principal ?? before?.principal,
    tenant: asked.tenant ?? before?.tenant,
    rate: asked.rate ?? before?.rate,
    tasksPerDay: asked.tasksPerDay ?? before?.tasksPerDay,
    expiresAt: endOf(asked, now),
    createdBy: 'admin',
  })
  return { status: 201, body: { key: made.key, ...shownKey(made.info) }, id: made.info.id }
}

const page = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
  after: z.string().max(64).optional(),
})

export async function listKeys({ query }: RouteRequest, keys: Keys): Promise<Answer> {
  const { keys: found, after } = await keys.list(check(page, Object.fromEntries(query)))
  return { status: 200, body: { keys: found.map(shownKey), ...(after !== undefined ? { after } : {}) } }
}

export async function showKey(id: string, keys: Keys): Promise<Answer> {
  return answerOf(await keys.get(id))
}

export async function revokeKey(id: string, keys: Keys): Promise<Answer> {
  return answerOf(await keys.revoke(id))
}

function answerOf(info: KeyInfo | undefined): Answer {
  if (info === undefined) throw notFound()
  return { status: 200, body: shownKey(info) }
}

/** With times and rates as people write them. */
export function shownKey({ rate: limit, createdAt, expiresAt, revokedAt, lastUsedAt, ...info }: KeyInfo): object {
  return {
    ...info,
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
