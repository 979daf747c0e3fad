/** Schema of an `a2a` entry: the address of the remote agent, the trust in its card, and our credentials. */
import { bindingNames } from '@parley/a2a/server'
import { z } from 'zod'
import { duration, httpUrl, nonEmpty, secret } from '../../config/values.ts'

const strings = z.array(nonEmpty)

const trust = z.strictObject({
  keys: z.array(z.record(z.string(), z.unknown())).optional().meta({ description: 'Public keys as JWKs.' }),
  jwks: z
    .union([httpUrl, z.array(httpUrl)], 'give the url of a key set, or a list of them')
    .optional()
    .meta({ description: 'Where keys are published, whatever a signature says.' }),
  origins: strings.optional().meta({ description: 'Origins to which a signature may lead for its key.' }),
  algorithms: strings.optional().meta({ description: 'Default: ES256, ES384, EdDSA, Ed25519, RS256, PS256.' }),
})

const oauth = z.strictObject({
  clientId: nonEmpty,
  clientSecret: secret,
  scopes: strings.optional().meta({ description: "Default: those that the card's requirement lists." }),
  tokenUrl: httpUrl.optional().meta({ description: 'Where tokens are had. Default: as the card says.' }),
  metadataUrl: httpUrl.optional().meta({ description: "Instead of tokenUrl: the authorization server's metadata." }),
  trust: strings.optional().meta({ description: 'Origins that the card may name as its authorization server.' }),
  resource: nonEmpty.optional(),
  audience: nonEmpty.optional(),
})

const auth = z.strictObject({
  bearer: secret.optional().meta({ description: 'A token for `Authorization: Bearer`.' }),
  apiKey: secret.optional().meta({ description: 'Goes where the card says: a header, the query or a cookie.' }),
  basic: z.strictObject({ username: nonEmpty, password: secret }).optional(),
  oauth: oauth.optional().meta({ description: 'Client credentials (OAuth 2).' }),
})

export const a2aEntry = z.strictObject({
  url: httpUrl.meta({ description: 'The address of the agent, or of its card.' }),
  verify: z
    .enum(['off', 'prefer', 'require'])
    .default('off')
    .meta({ description: "Whether the card's signature is checked; `require` uses no card without a good one." }),
  trust: trust
    .optional()
    .meta({ description: "Whose keys count. Default: those that the card's own origin publishes." }),
  drift: z.enum(['alert', 'block', 'ignore']).default('alert').meta({
    description:
      'What happens when the card differs from the approved one. `alert`: the operator is notified. `block`: the agent is also not called until the operator approves the card. `ignore`: nothing. The first card is approved automatically.',
  }),
  protocol: z
    .enum(['1.0', '0.3', '0.2'])
    .optional()
    .meta({ description: 'Pins the version of A2A that is spoken. Default: the best that the card offers.' }),
  bindings: z
    .array(z.enum(bindingNames))
    .optional()
    .meta({ description: "Preferred bindings, best first. Default: the card's order." }),
  grpcTls: z
    .boolean()
    .optional()
    .meta({ description: 'For gRPC addresses without a scheme. Default: TLS, unless it is this machine.' }),
  tenant: nonEmpty.optional().meta({ description: "Takes the place of the interface's own." }),
  auth: auth.optional().meta({ description: 'Who this hub is to the agent.' }),
  headers: z
    .record(z.string(), secret)
    .optional()
    .meta({ description: "Sent with every request to the agent's own origins." }),
  forwardCaller: z
    .string()
    .regex(/^[A-Za-z0-9-]+$/, 'give the name of a header, such as X-Forwarded-User')
    .optional()
    .meta({ description: "A header that tells the agent the caller's id. Default: it does not learn it." }),
  extensions: strings
    .default([])
    .meta({ description: 'URIs of protocol extensions that are passed through, and stand on our card too.' }),
  extendedCard: z
    .boolean()
    .default(false)
    .meta({ description: 'Shows what the agent shows to those it knows. Everybody who sees our card then sees it.' }),
  allowPrivate: z.boolean().default(false).meta({
    description: 'Whether addresses that the card names may be inside your network. `url` itself may always.',
  }),
  pushFrom: z
    .enum(['auto', 'off'])
    .default('auto')
    .meta({ description: 'Whether an agent that cannot stream is asked to notify us. Needs publicUrl.' }),
  answerTimeout: duration.prefault('30s').meta({ description: 'Until an answer begins. Default 30s.' }),
  idleTimeout: duration
    .prefault('60s')
    .meta({ description: 'The silence of a stream before it is opened anew. Default 60s.' }),
  pollEvery: duration
    .prefault('3s')
    .meta({ description: 'How often a task is looked at where there is no stream. Default 3s.' }),
  patience: duration
    .prefault('5m')
    .meta({ description: 'How long an agent that is gone may take to come back before its task fails. Default 5m.' }),
})

export type A2AEntry = z.output<typeof a2aEntry>
