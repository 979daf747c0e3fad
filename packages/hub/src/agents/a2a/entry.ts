/** Schema of an `a2a` entry: the address of the remote agent, the trust in its card, and our credentials. */
import { bindingNames } from '@parley/a2a/internal'
import { z } from 'zod'
import { duration, httpUrl, nonEmpty, protocolVersion, secret } from '../../config/values.ts'

const strings = z.array(nonEmpty)

const trust = z.strictObject({
  keys: z.array(z.record(z.string(), z.unknown())).optional().describe('Public keys as JWKs.'),
  jwks: z
    .union([httpUrl, z.array(httpUrl)], 'must be the URL of a key set, or a list of them')
    .optional()
    .describe('URLs of key sets, regardless of the signature.'),
  origins: strings.optional().describe('Origins that a signature may name for its key.'),
  algorithms: strings
    .optional()
    .describe('Accepted signature algorithms. Default: ES256, ES384, EdDSA, Ed25519, RS256, PS256.'),
})

const oauth = z.strictObject({
  clientId: nonEmpty.describe('The client id of this hub.'),
  clientSecret: secret.describe('The client secret of this hub.'),
  scopes: strings.optional().describe("The requested scopes. Default: those that the card's requirement lists."),
  tokenUrl: httpUrl.optional().describe('The token endpoint. Default: from the card.'),
  metadataUrl: httpUrl.optional().describe("Instead of tokenUrl: the authorization server's metadata."),
  trust: strings.optional().describe('Origins that the card may name as its authorization server.'),
  resource: nonEmpty.optional().describe('The `resource` parameter of the token request.'),
  audience: nonEmpty.optional().describe('The `audience` parameter of the token request.'),
})

const auth = z.strictObject({
  bearer: secret.optional().describe('A token for `Authorization: Bearer`.'),
  apiKey: secret.optional().describe('Sent where the card requires it: in a header, the query or a cookie.'),
  basic: z
    .strictObject({ username: nonEmpty.describe('The user name.'), password: secret.describe('The password.') })
    .optional()
    .describe('Credentials for HTTP Basic authentication.'),
  oauth: oauth.optional().describe('Client credentials (OAuth 2).'),
})

export const a2aEntry = z.strictObject({
  url: httpUrl.describe('The URL of the agent or of its card.'),
  verify: z
    .enum(['off', 'prefer', 'require'])
    .default('off')
    .describe("Whether the card's signature is checked. `require` rejects cards without a valid one."),
  trust: trust.optional().describe('Trusted keys. Default: those published by the origin of the card.'),
  drift: z
    .enum(['alert', 'block', 'ignore'])
    .default('alert')
    .describe(
      'What happens when the card differs from the approved one. `alert`: the operator is notified. `block`: the agent is also not called until the operator approves the card. `ignore`: nothing. The first card is approved automatically.',
    ),
  protocol: protocolVersion
    .optional()
    .describe('Pins the A2A version, such as 1.0. Default: the best that the card offers.'),
  bindings: z
    .array(z.enum(bindingNames))
    .optional()
    .describe("Preferred bindings, best first. Default: the card's order."),
  grpcTls: z.boolean().optional().describe('For gRPC addresses without a scheme. Default: TLS, except on loopback.'),
  tenant: nonEmpty.optional().describe('Replaces the tenant of the interface.'),
  auth: auth.optional().describe('The credentials of this hub for the agent.'),
  headers: z.record(z.string(), secret).optional().describe("Sent with every request to the agent's own origins."),
  forwardCaller: z
    .string()
    .regex(/^[A-Za-z0-9-]+$/, 'must be a header name such as X-Forwarded-User')
    .optional()
    .describe("A header that sends the caller's id to the agent. Default: not sent."),
  extensions: strings
    .default([])
    .describe("URIs of protocol extensions that are forwarded and listed on the hub's card."),
  extendedCard: z
    .boolean()
    .default(false)
    .describe("Includes the agent's extended card. All clients that can read the hub's card then see it."),
  allowPrivate: z
    .boolean()
    .default(false)
    .describe('Whether the card may name private addresses. `url` itself always may.'),
  pushFrom: z
    .enum(['auto', 'off'])
    .default('auto')
    .describe('Whether push notifications are requested from agents that cannot stream. Requires publicUrl.'),
  answerTimeout: duration.prefault('30s').describe('Time until a response begins. Default 30s.'),
  idleTimeout: duration.prefault('60s').describe('Silence of a stream after which it is reopened. Default 60s.'),
  pollEvery: duration.prefault('3s').describe('The polling interval for tasks without a stream. Default 3s.'),
  reconnectTimeout: duration
    .prefault('5m')
    .describe('How long the hub tries to reach an unreachable agent before its task fails. Default 5m.'),
})

export type A2AEntry = z.output<typeof a2aEntry>
