/**
 * `/a2a/{agent}/api-key`: whoever may use an agent by a token of an issuer makes keys for it, which belong to the same
 * principal, and lists and revokes them (S4-4). A key cannot make another: one that leaked must not outlive its revocation.
 */
import type { Caller } from '@parley/a2a'
import { z } from 'zod'
import type { Keys } from '../auth/keys.ts'
import { covers, grantsOf } from '../auth/scopes.ts'
import { type Answer, notFound, RouteError } from './answer.ts'
import { check } from './check.ts'
import { endOf, ending, invalid, keyName, scopes, shownKey } from './key-routes.ts'
import type { RouteRequest } from './route-request.ts'

/** Who asks: the admin may ask for anybody's, others for their own. */
export type Owner = { readonly isAdmin: true } | { readonly isAdmin: false; readonly caller: Caller }

const order = z.strictObject({ name: keyName.optional(), scopes: scopes.optional(), ...ending })

/** One agent, one principal. */
const mostKeys = 20

export async function generateKey(
  request: RouteRequest,
  agent: string,
  owner: Owner,
  keys: Keys,
  now: number,
): Promise<Answer & { readonly id: string }> {
  const asked = check(order, (await request.json()) ?? {})
  const held = owner.isAdmin ? [`agent:${agent}`] : forAgent(agent, owner.caller)
  const granted = asked.scopes ?? held
  if (asked.scopes !== undefined) checkScopes(asked.scopes, agent, held)
  if (!owner.isAdmin && (await keys.ofPrincipal(owner.caller.id, mostKeys)).length >= mostKeys) {
    throw new RouteError('RATE_LIMITED', `There are ${mostKeys} keys of yours already: revoke one first`)
  }
  const made = await keys.create({
    name: asked.name ?? agent,
    scopes: granted,
    ...(owner.isAdmin ? {} : { principal: owner.caller.id, tenant: owner.caller.tenant }),
    expiresAt: endOf(asked, now),
    createdBy: owner.isAdmin ? 'admin' : owner.caller.id,
  })
  return { status: 201, body: { key: made.key, agent, ...shownKey(made.info) }, id: made.info.id }
}

/** Of what the caller may do, what concerns this agent; and the words that are none of ours, which its skills may ask for. */
function forAgent(agent: string, { scopes: held = [] }: Caller): readonly string[] {
  const skills = grantsOf(held).skillsOf(agent)
  const own = skills === undefined ? [`agent:${agent}`] : skills.map((skill) => `skill:${agent}/${skill}`)
  return [...own, ...held.filter((scope) => !/^(agent|skill):/.test(scope))]
}

function checkScopes(asked: readonly string[], agent: string, held: readonly string[]): void {
  if (!covers(held, asked)) throw new RouteError('PERMISSION_DENIED', 'A key may not permit more than you may do here')
  if (!grantsOf(asked).mayUse(agent)) throw invalid('scopes', `name agent:${agent}, or one of its skills`)
}

export async function listOwnKeys(agent: string, owner: Owner, keys: Keys): Promise<Answer> {
  const mine = owner.isAdmin ? (await keys.list({ limit: 1_000 })).keys : await keys.ofPrincipal(owner.caller.id, 1_000)
  const found = mine.filter(({ scopes: held }) => grantsOf(held).mayUse(agent))
  return { status: 200, body: { keys: found.map(shownKey) } }
}

export async function revokeOwnKey(id: string, owner: Owner, keys: Keys): Promise<Answer> {
  const info = await keys.get(id)
  const isTheirs = owner.isAdmin || info?.principal === owner.caller.id
  const revoked = info !== undefined && isTheirs ? await keys.revoke(id) : undefined
  if (revoked === undefined) throw notFound()
  return { status: 200, body: shownKey(revoked) }
}
