/** `/admin/secrets`: sets, lists and removes the secrets that the hub keeps. No response contains a value. */
import { z } from 'zod'
import { hubReferencesIn, hubSecretName, hubSecretNameText } from '../../config/secrets/hub-references.ts'
import type { HubConfig } from '../../config/hub-config.ts'
import { maxSecretBytes } from '../../config/secrets/secret-provider.ts'
import { isoTime, RouteError } from '../../http/json-response.ts'
import type { HubSecretInfo, HubSecrets } from '../../secrets/hub-secrets.ts'
import { type AdminRoute, jsonRoute, RouteResult, taggedRoutes, timestamp } from '../route.ts'

export interface SecretRoutesDeps {
  readonly secrets: HubSecrets
  /** The current configuration. */
  config(): HubConfig
}

export const secretName = z.string().regex(hubSecretName, hubSecretNameText)
export const secretValue = z
  .string()
  .min(1, 'is empty')
  .refine((value) => Buffer.byteLength(value) <= maxSecretBytes, `must have at most ${maxSecretBytes} bytes`)
  .refine((value) => !value.includes('\0'), 'is not text')
  .meta({ writeOnly: true })

const params = z.object({ name: secretName })
const secretInfo = z
  .strictObject({
    name: secretName,
    isSet: z
      .boolean()
      .describe(
        'false: it is not set, or no key of this store decrypts it. The agents that refer to it are unavailable.',
      ),
    setAt: timestamp.optional(),
    setBy: z.string().optional().describe('The caller that set it.'),
    agents: z.array(z.string()).describe('The agents that refer to it.'),
  })
  .meta({ id: 'Secret' })

export function secretRoutes({ secrets, config }: SecretRoutesDeps): readonly AdminRoute[] {
  return taggedRoutes('Secrets', [
    jsonRoute('GET /admin/secrets', {
      name: 'listSecrets',
      summary: 'Lists the secrets that the hub keeps, without their values.',
      description:
        'Agents refer to them as `${hub:<name>}`. Also lists those that an agent refers to and that are not set.',
      response: z.strictObject({ secrets: z.array(secretInfo) }),
      async handle() {
        // Another replica may have just set one.
        await secrets.refresh()
        const kept = await secrets.list()
        const users = secretUsers(config())
        const missing = [...users.keys()].filter((name) => !kept.some((one) => one.name === name))
        const all = [...kept, ...missing.map((name) => ({ name }))].map((one) =>
          toJson(secrets.values.has(one.name) ? one : { name: one.name }, users),
        )
        return { secrets: all.toSorted((a, b) => (a.name < b.name ? -1 : 1)) }
      },
    }),
    jsonRoute('PUT /admin/secrets/{name}', {
      name: 'setSecret',
      summary: 'Sets or replaces a secret. The agents that refer to it are opened again.',
      params,
      body: z.strictObject({ value: secretValue.describe('It is never returned.') }),
      maxBytes: 8 * maxSecretBytes,
      response: secretInfo,
      event: 'secret.set',
      async handle({ params: { name }, body: { value }, who }) {
        const kept = await secrets.set(name, value, { who: who.subject })
        return new RouteResult(toJson(kept, secretUsers(config())), { auditTarget: { key: name } })
      },
    }),
    jsonRoute('DELETE /admin/secrets/{name}', {
      name: 'removeSecret',
      summary: 'Removes a secret. Fails with 409 while an agent refers to it.',
      params,
      response: z.strictObject({ name: secretName }),
      event: 'secret.removed',
      async handle({ params: { name } }) {
        const agents = secretUsers(config()).get(name) ?? []
        const isKept = (await secrets.list()).some((one) => one.name === name)
        if (isKept && agents.length > 0) {
          const message = `${agents.join(', ')} ${agents.length === 1 ? 'uses' : 'use'} the secret ${name}: change the entry first, or replace the value`
          throw new RouteError('CONFLICT', message)
        }
        if (!(await secrets.remove(name))) throw new RouteError('NOT_FOUND', `There is no secret ${name}`)
        return new RouteResult({ name }, { auditTarget: { key: name } })
      },
    }),
  ])
}

/** The agents that refer to each secret. */
export function secretUsers({ agents }: Pick<HubConfig, 'agents'>): ReadonlyMap<string, readonly string[]> {
  const users = new Map<string, string[]>()
  for (const [agent, { own }] of Object.entries(agents))
    for (const name of hubReferencesIn(own)) users.set(name, [...(users.get(name) ?? []), agent])
  return users
}

function toJson(
  { name, setAt, setBy }: Pick<HubSecretInfo, 'name'> & Partial<HubSecretInfo>,
  users: ReadonlyMap<string, readonly string[]>,
) {
  return {
    name,
    isSet: setAt !== undefined,
    ...(setAt === undefined ? {} : { setAt: isoTime(setAt) }),
    ...(setBy === undefined ? {} : { setBy }),
    agents: [...(users.get(name) ?? [])],
  }
}
