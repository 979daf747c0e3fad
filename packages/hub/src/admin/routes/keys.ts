/** `/admin/keys`: creates, lists and revokes keys. */
import { z } from 'zod'
import type { KeyInfo } from '../../auth/key-format.ts'
import type { ApiKeys } from '../../auth/api-keys.ts'
import { validateScope } from '../../auth/scopes.ts'
import { rate } from '../../config/values.ts'
import { RouteError } from '../../http/json-response.ts'
import { validateInput, type AdminRoute, jsonRoute, RouteResult, taggedRoutes, limitField } from '../route.ts'
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

export interface KeyRoutesDeps {
  readonly keys: ApiKeys
  readonly now: () => number
  agentNames(): readonly string[]
}

const keyRequest = z.strictObject({
  name: keyName.optional(),
  agents: z
    .array(
      z
        .string()
        .refine(
          (name) => validateScope(`agent:${name}`) === undefined,
          'must be the name of one agent, without agent:',
        ),
    )
    .max(200)
    .optional()
    .describe('`agents: [gpt]` is `scopes: [agent:gpt]`.'),
  scopes: scopesField.optional(),
  principal: z
    .string()
    .min(1, 'is empty')
    .max(256, 'is longer than 256 characters')
    .refine((principal) => !reservedPrincipals.test(principal), 'is taken')
    .optional(),
  tenant: z.string().min(1).max(256).optional(),
  rate: rate.optional(),
  tasksPerDay: z.int().positive().optional(),
  ...expiryFields,
  replaces: z
    .string()
    .max(64)
    .optional()
    .describe('The id of another key: omitted fields are copied from it, and the new key continues its tasks.'),
})

/** Principals with a fixed meaning. `agent:…|` and `console|` are before the principal on whose behalf a task was opened. */
const reservedPrincipals = /^(anonymous|admin|console\|.*|agent:[^|]*\|.*)$/s
const params = z.object({ id: z.string().max(64) })

export function keyRoutes({ keys, now, agentNames }: KeyRoutesDeps): readonly AdminRoute[] {
  return taggedRoutes('Keys', [
    jsonRoute('GET /admin/keys', {
      name: 'listKeys',
      summary: 'Lists the keys, including expired and revoked ones.',
      query: z.strictObject({ limit: limitField(100, 1_000), after: z.string().max(64).optional() }),
      response: z.strictObject({
        keys: z.array(keyInfo),
        after: z.string().optional().describe('Pass it to get the next page; absent on the last.'),
      }),
      async handle({ query }) {
        const page = await keys.list(query)
        return { keys: page.keys.map(keyToJson), ...(page.after !== undefined ? { after: page.after } : {}) }
      },
    }),
    jsonRoute('POST /admin/keys', {
      name: 'createKey',
      summary: 'Creates a key and shows it once.',
      body: keyRequest,
      status: 201,
      response: createdKey,
      event: 'key.created',
      async handle({ body, who }) {
        const created = await keys.create({ createdBy: who.subject, ...(await createOptionsOf(body)) })
        return new RouteResult(
          { key: created.key, ...keyToJson(created.info) },
          { auditTarget: { key: created.info.id } },
        )
      },
    }),
    jsonRoute('GET /admin/keys/{id}', {
      name: 'getKey',
      summary: 'Shows a key, without its secret.',
      params,
      response: keyInfo,
      handle: async ({ params: { id } }) => keyJsonOrNotFound(await keys.get(id), id),
    }),
    jsonRoute('DELETE /admin/keys/{id}', {
      name: 'revokeKey',
      summary: 'Revokes a key.',
      params,
      response: keyInfo,
      event: 'key.revoked',
      handle: async ({ params: { id } }) =>
        new RouteResult(keyJsonOrNotFound(await keys.revoke(id), id), { auditTarget: { key: id } }),
    }),
  ])

  /** A typo would create a key without permissions. `scopes` may name agents that do not exist yet. */
  function requireAgents(named: readonly string[]): void {
    const known = agentNames()
    const unknown = named.find((agent) => agent !== '*' && !known.includes(agent))
    if (unknown === undefined) return
    throw invalidFieldError('agents', `unknown agent ${unknown}: use one of ${known.join(', ')}`)
  }

  function expiryOf(replaced: KeyInfo | undefined): number | undefined {
    const end = replaced?.expiresAt
    if (end !== undefined && end <= now())
      throw invalidFieldError('expiresIn', 'is required: the replaced key has expired')
    return end
  }

  async function createOptionsOf(requested: z.output<typeof keyRequest>) {
    const replaced = requested.replaces === undefined ? undefined : await keys.get(requested.replaces)
    if (requested.replaces !== undefined && replaced === undefined)
      throw invalidFieldError('replaces', 'is not the id of a key')
    const named = [...(requested.agents ?? []).map((agent) => `agent:${agent}`), ...(requested.scopes ?? [])]
    const grantedScopes =
      named.length > 0
        ? validateInput(z.strictObject({ agents: scopesField }), { agents: named }).agents
        : replaced?.scopes
    requireAgents(requested.agents ?? [])
    if (grantedScopes === undefined) throw invalidFieldError('scopes', 'is required: set agents: [<name>], or scopes')
    const name = requested.name ?? replaced?.name
    if (name === undefined) throw invalidFieldError('name', 'must not be empty')
    return {
      name,
      scopes: grantedScopes,
      principal: requested.principal ?? replaced?.principal,
      tenant: requested.tenant ?? replaced?.tenant,
      rate: requested.rate ?? replaced?.rate,
      tasksPerDay: requested.tasksPerDay ?? replaced?.tasksPerDay,
      expiresAt: keyExpiry(requested, now()) ?? expiryOf(replaced),
      // It stays a key of that caller.
      ...(replaced?.isCallerKey === true ? { isCallerKey: true as const, createdBy: replaced.createdBy } : {}),
    }
  }
}

function keyJsonOrNotFound(info: KeyInfo | undefined, id: string) {
  if (info === undefined) throw new RouteError('NOT_FOUND', `Unknown key ${id}`)
  return keyToJson(info)
}
