/**
 * `/a2a/{agent}/api-key`: a caller that may use an agent by a token of an issuer creates keys for it, and lists and revokes them
 * (S4-4). A key has a principal of its own: who has it reads nothing of its creator, unless the creator asks for that.
 */
import type { Caller } from '@parley/a2a'
import { z } from 'zod'
import { createKeyedMutex } from '../../agents/programs/semaphore.ts'
import type { ApiKeys } from '../../auth/api-keys.ts'
import { creatorOf, isKeyOf } from '../../auth/key-format.ts'
import { adminScope, coversScopes, permissionsOf } from '../../auth/scopes.ts'
import { notFoundError, RouteError } from '../../http/json-response.ts'
import {
  expiryFields,
  keyExpiry,
  invalidFieldError,
  keyInfo,
  keyName,
  createdKey,
  scopesField,
  keyToJson,
} from '../key-fields.ts'
import { type AdminRoute, jsonRoute, RouteResult, type AdminCaller, taggedRoutes } from '../route.ts'
import type { KeyRoutesDeps } from './keys.ts'

/** Per caller. */
const maxKeys = 20
const maxListed = 1_000
const right = 'maker'
const noCaller: Caller = { id: '' }
const actsAsMeWarning =
  'This key acts as you: who has it can list, read, continue and cancel all your tasks of this agent, and read their files'
const agent = z.string().describe("The agent's name.")

export function ownKeyRoutes({ keys, now }: Pick<KeyRoutesDeps, 'keys' | 'now'>): readonly AdminRoute[] {
  // Requests that count the keys of a caller at once would each find room for another.
  const creations = createKeyedMutex()

  return taggedRoutes('Keys of callers', [
    jsonRoute('GET /a2a/{agent}/api-key', {
      name: 'listOwnKeys',
      summary: 'Lists the keys that the caller has created for the agent; for the admin, all.',
      access: right,
      params: z.object({ agent }),
      response: z.strictObject({ keys: z.array(keyInfo) }),
      async handle({ params, who }) {
        const ownKeys = who.isAdmin
          ? (await keys.list({ limit: maxListed })).keys
          : await keys.ofCaller(who.subject, maxListed)
        const found = ownKeys.filter(({ scopes: held }) => permissionsOf(held).canUse(params.agent))
        return { keys: found.map(keyToJson) }
      },
    }),
    jsonRoute('POST /a2a/{agent}/api-key/generate', {
      name: 'generateOwnKey',
      summary: 'Creates a key for the agent and shows it once.',
      access: right,
      params: z.object({ agent }),
      body: z
        .strictObject({
          name: keyName.optional(),
          scopes: scopesField.optional(),
          actsAsMe: z
            .boolean()
            .optional()
            .describe(
              'Whether the key reads and continues the tasks of the caller. Default: it has a principal of its own.',
            ),
          ...expiryFields,
        })
        .optional()
        .transform((body) => body ?? {}),
      status: 201,
      response: z.strictObject({
        agent: z.string(),
        ...createdKey.shape,
        apiKey: z.string().describe('The same as `key`, under the name that other gateways use.'),
        warning: z.string().optional().describe('What the key may do that its scopes do not show.'),
      }),
      event: 'key.created',
      async handle({ params, body, who, signal }) {
        const held = who.isAdmin ? [`agent:${params.agent}`] : scopesForAgent(params.agent, who.caller ?? noCaller)
        if (body.scopes !== undefined) checkScopes(body.scopes, params.agent, held)
        // The admin owns no tasks.
        const actsAsCaller = body.actsAsMe === true && !who.isAdmin
        const order = {
          name: body.name ?? params.agent,
          scopes: body.scopes ?? held,
          ...(who.isAdmin ? {} : { isCallerKey: true as const, tenant: who.caller?.tenant }),
          ...(actsAsCaller ? { principal: who.subject } : {}),
          expiresAt: keyExpiry(body, now()),
          createdBy: who.subject,
        }
        const release = await creations.acquire(who.subject, signal)
        const created = await requireKeyQuota(who, keys)
          .then(() => keys.create(order))
          .finally(release)
        return new RouteResult(
          {
            key: created.key,
            apiKey: created.key,
            agent: params.agent,
            ...keyToJson(created.info),
            ...(actsAsCaller ? { warning: actsAsMeWarning } : {}),
          },
          { auditTarget: { key: created.info.id } },
        )
      },
    }),
    jsonRoute('DELETE /a2a/{agent}/api-key/{id}', {
      name: 'revokeOwnKey',
      summary: 'Revokes one of the keys that the caller has created.',
      access: right,
      params: z.object({ agent, id: z.string().max(64) }),
      response: keyInfo,
      event: 'key.revoked',
      async handle({ params: { id }, who }) {
        const info = await keys.get(id)
        const isTheirs = who.isAdmin || (info !== undefined && isKeyOf(info, who.subject))
        const revoked = info !== undefined && isTheirs ? await keys.revoke(id) : undefined
        if (revoked === undefined) throw notFoundError()
        return new RouteResult(keyToJson(revoked), { auditTarget: { key: id } })
      },
    }),
  ])
}

async function requireKeyQuota(who: AdminCaller, keys: ApiKeys): Promise<void> {
  if (who.isAdmin) return
  // Not those that an admin created with this principal.
  const created = (await keys.ofCaller(who.subject, maxListed)).filter((key) => creatorOf(key) === who.subject)
  if (created.length < maxKeys) return
  throw new RouteError('RATE_LIMITED', `You already have ${maxKeys} keys: revoke one first`)
}

/** The caller's scopes for this agent, and scopes that the hub does not interpret, which its skills may require. */
function scopesForAgent(name: string, { scopes: held = [] }: Caller): readonly string[] {
  const skills = permissionsOf(held).skillsOf(name)
  const own = skills === undefined ? [`agent:${name}`] : skills.map((skill) => `skill:${name}/${skill}`)
  return [...own, ...held.filter((scope) => !/^(agent|skill):/.test(scope) && scope !== adminScope)]
}

function checkScopes(requested: readonly string[], name: string, held: readonly string[]): void {
  if (!coversScopes(held, requested))
    throw new RouteError('PERMISSION_DENIED', 'A key cannot have more permissions than you have')
  if (!permissionsOf(requested).canUse(name))
    throw invalidFieldError('scopes', `must be agent:${name}, or one of its skills`)
}
