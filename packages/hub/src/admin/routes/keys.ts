/** `/admin/keys`: makes, lists and revokes keys. */
import { z } from 'zod'
import type { KeyInfo } from '../../auth/key-record.ts'
import type { Keys } from '../../auth/keys.ts'
import { rate } from '../../config/values.ts'
import { RouteError } from '../answer.ts'
import { check } from '../check.ts'
import { limit } from '../fields.ts'
import { ending, endOf, invalid, keyInfo, keyName, madeKey, scopes, shownKey } from '../key-fields.ts'
import { type Route, route, Told } from '../route.ts'

export interface KeyRouteParts {
  readonly keys: Keys
  readonly now: () => number
  agentNames(): readonly string[]
}

const order = z.strictObject({
  name: keyName.optional(),
  agents: z.array(z.string()).max(200).optional().meta({ description: '`agents: [gpt]` is `scopes: [agent:gpt]`.' }),
  scopes: scopes.optional(),
  principal: z
    .string()
    .min(1, 'is empty')
    .max(256, 'is longer than 256 characters')
    .refine((principal) => !taken.test(principal), 'is taken')
    .optional(),
  tenant: z.string().min(1).max(256).optional(),
  rate: rate.optional(),
  tasksPerDay: z.int().positive().optional(),
  ...ending,
  replaces: z.string().max(64).optional().meta({
    description:
      'The id of another key: everything that is not said is as with that one, and tasks go on with the new one.',
  }),
})

/** Names that stand for somebody already. */
const taken = /^(anonymous|admin|console\|.*)$/s
const params = z.object({ id: z.string().max(64) })
const tag = 'Keys'

export function keyRoutes({ keys, now, agentNames }: KeyRouteParts): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/admin/keys',
      name: 'listKeys',
      summary: 'Lists the keys, also those that are good no more.',
      tag,
      query: z.strictObject({ limit: limit(100, 1_000), after: z.string().max(64).optional() }),
      answer: z.strictObject({
        keys: z.array(keyInfo),
        after: z.string().optional().meta({ description: 'To be asked for next, if there are more.' }),
      }),
      async handle({ query }) {
        const page = await keys.list(query)
        return { keys: page.keys.map(shownKey), ...(page.after !== undefined ? { after: page.after } : {}) }
      },
    }),
    route({
      method: 'POST',
      path: '/admin/keys',
      name: 'createKey',
      summary: 'Makes a key, and shows it for the only time.',
      tag,
      body: order,
      status: 201,
      answer: madeKey,
      event: 'key.created',
      async handle({ body, who }) {
        const made = await keys.create({ ...(await orderOf(body)), createdBy: who.subject })
        return new Told({ key: made.key, ...shownKey(made.info) }, { about: { key: made.info.id } })
      },
    }),
    route({
      method: 'GET',
      path: '/admin/keys/{id}',
      name: 'getKey',
      summary: 'Shows what is known of a key.',
      tag,
      params,
      answer: keyInfo,
      handle: async ({ params: { id } }) => shownOr404(await keys.get(id), id),
    }),
    route({
      method: 'DELETE',
      path: '/admin/keys/{id}',
      name: 'revokeKey',
      summary: 'Revokes a key.',
      tag,
      params,
      answer: keyInfo,
      event: 'key.revoked',
      handle: async ({ params: { id } }) => new Told(shownOr404(await keys.revoke(id), id), { about: { key: id } }),
    }),
  ]

  /** A typing error would make a key that opens nothing. `scopes` may name agents that are yet to come. */
  function requireAgents(named: readonly string[]): void {
    const known = agentNames()
    const unknown = named.find((agent) => agent !== '*' && !known.includes(agent))
    if (unknown === undefined) return
    throw invalid('agents', `there is no agent ${unknown}: the agents are ${known.join(', ')}`)
  }

  async function orderOf(asked: z.output<typeof order>) {
    const before = asked.replaces === undefined ? undefined : await keys.get(asked.replaces)
    if (asked.replaces !== undefined && before === undefined) throw invalid('replaces', 'there is no such key')
    const named = [...(asked.agents ?? []).map((agent) => `agent:${agent}`), ...(asked.scopes ?? [])]
    const granted =
      named.length > 0 ? check(z.strictObject({ agents: scopes }), { agents: named }).agents : before?.scopes
    requireAgents(asked.agents ?? [])
    if (granted === undefined) throw invalid('scopes', 'say what it is for: agents: [<name>], or scopes')
    const name = asked.name ?? before?.name
    if (name === undefined) throw invalid('name', 'give it a name')
    return {
      name,
      scopes: granted,
      principal: asked.principal ?? before?.principal,
      tenant: asked.tenant ?? before?.tenant,
      rate: asked.rate ?? before?.rate,
      tasksPerDay: asked.tasksPerDay ?? before?.tasksPerDay,
      expiresAt: endOf(asked, now()),
    }
  }
}

function shownOr404(info: KeyInfo | undefined, id: string) {
  if (info === undefined) throw new RouteError('NOT_FOUND', `There is no key ${id}`)
  return shownKey(info)
}
