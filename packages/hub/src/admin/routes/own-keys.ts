/**
 * `/a2a/{agent}/api-key`: whoever may use an agent by a token of an issuer makes keys for it, which belong to the same
 * principal, and lists and revokes them (S4-4).
 */
import type { Caller } from '@parley/a2a'
import { z } from 'zod'
import type { Keys } from '../../auth/keys.ts'
import { adminScope, covers, grantsOf } from '../../auth/scopes.ts'
import { notFound, RouteError } from '../answer.ts'
import { ending, endOf, invalid, keyInfo, keyName, madeKey, scopes, shownKey } from '../key-fields.ts'
import { type Route, route, Told, type Who } from '../route.ts'
import type { KeyRouteParts } from './keys.ts'

/** One agent, one principal. */
const mostKeys = 20
const tag = 'Keys of callers'
const right = 'maker'
const nobody: Caller = { id: '' }
const agent = z.string().meta({ description: "The agent's name." })

export function ownKeyRoutes({ keys, now }: Pick<KeyRouteParts, 'keys' | 'now'>): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/a2a/{agent}/api-key',
      name: 'listOwnKeys',
      summary: 'Lists the keys that whoever asks has made for the agent; for the admin, all.',
      tag,
      right,
      params: z.object({ agent }),
      answer: z.strictObject({ keys: z.array(keyInfo) }),
      async handle({ params, who }) {
        const mine = who.isAdmin ? (await keys.list({ limit: 1_000 })).keys : await keys.ofPrincipal(who.subject, 1_000)
        const found = mine.filter(({ scopes: held }) => grantsOf(held).mayUse(params.agent))
        return { keys: found.map(shownKey) }
      },
    }),
    route({
      method: 'POST',
      path: '/a2a/{agent}/api-key/generate',
      name: 'generateOwnKey',
      summary: 'Makes a key for the agent, and shows it for the only time.',
      tag,
      right,
      params: z.object({ agent }),
      body: z
        .strictObject({ name: keyName.optional(), scopes: scopes.optional(), ...ending })
        .optional()
        .transform((body) => body ?? {}),
      status: 201,
      answer: z.strictObject({
        agent: z.string(),
        ...madeKey.shape,
        apiKey: z.string().meta({ description: 'The same as `key`, by the name that other gateways give it.' }),
      }),
      event: 'key.created',
      async handle({ params, body, who }) {
        const held = who.isAdmin ? [`agent:${params.agent}`] : forAgent(params.agent, who.caller ?? nobody)
        if (body.scopes !== undefined) checkScopes(body.scopes, params.agent, held)
        await checkRoom(who, keys)
        const made = await keys.create({
          name: body.name ?? params.agent,
          scopes: body.scopes ?? held,
          ...(who.isAdmin ? {} : { principal: who.subject, tenant: who.caller?.tenant }),
          expiresAt: endOf(body, now()),
          createdBy: who.subject,
        })
        return new Told(
          { key: made.key, apiKey: made.key, agent: params.agent, ...shownKey(made.info) },
          { about: { key: made.info.id } },
        )
      },
    }),
    route({
      method: 'DELETE',
      path: '/a2a/{agent}/api-key/{id}',
      name: 'revokeOwnKey',
      summary: 'Revokes one of the keys that whoever asks has made.',
      tag,
      right,
      params: z.object({ agent, id: z.string().max(64) }),
      answer: keyInfo,
      event: 'key.revoked',
      async handle({ params: { id }, who }) {
        const info = await keys.get(id)
        const isTheirs = who.isAdmin || info?.principal === who.subject
        const revoked = info !== undefined && isTheirs ? await keys.revoke(id) : undefined
        if (revoked === undefined) throw notFound()
        return new Told(shownKey(revoked), { about: { key: id } })
      },
    }),
  ]
}

async function checkRoom(who: Who, keys: Keys): Promise<void> {
  if (who.isAdmin || (await keys.ofPrincipal(who.subject, mostKeys)).length < mostKeys) return
  throw new RouteError('RATE_LIMITED', `There are ${mostKeys} keys of yours already: revoke one first`)
}

/** Of what the caller may do, what concerns this agent; and the words that are none of ours, which its skills may ask for. */
function forAgent(name: string, { scopes: held = [] }: Caller): readonly string[] {
  const skills = grantsOf(held).skillsOf(name)
  const own = skills === undefined ? [`agent:${name}`] : skills.map((skill) => `skill:${name}/${skill}`)
  return [...own, ...held.filter((scope) => !/^(agent|skill):/.test(scope) && scope !== adminScope)]
}

function checkScopes(asked: readonly string[], name: string, held: readonly string[]): void {
  if (!covers(held, asked)) throw new RouteError('PERMISSION_DENIED', 'A key may not permit more than you may do here')
  if (!grantsOf(asked).mayUse(name)) throw invalid('scopes', `name agent:${name}, or one of its skills`)
}
