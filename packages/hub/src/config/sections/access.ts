/** The sections `access` and `admin`: who may call, and who may run the hub. */
import { z } from 'zod'
import { validateScope } from '../../auth/scopes.ts'
import { duration, httpUrl, nonEmpty, secret } from '../values.ts'

/** A malformed scope would permit nothing, without any error at run time. */
const scopeSchema = nonEmpty.superRefine((text, context) => {
  const problem = validateScope(text)
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem })
})

const jwtIssuerSchema = z.strictObject({
  issuer: httpUrl.describe('The `iss` claim of its tokens.'),
  audience: z
    .union([nonEmpty, z.array(nonEmpty).min(1)], 'must be a string or a list of strings')
    .describe('Tokens for another audience are refused.'),
  jwks: httpUrl.optional().describe("The URL of its key set. Default: from the issuer's metadata."),
  algorithms: z
    .array(nonEmpty)
    .min(1)
    .optional()
    .describe('Accepted signature algorithms. Default: all asymmetric algorithms.'),
  clockTolerance: duration.optional().describe('Accepted clock difference in `exp`, `nbf` and `iat`. Default 10s.'),
  claim: nonEmpty
    .optional()
    .describe('The claim that holds scopes, roles or groups. Default: scope, else scp, roles and groups.'),
  scopes: z
    .record(z.string(), z.array(scopeSchema))
    .optional()
    .describe("What each value of the claim permits: `analysts: ['agent:analyst']`. Default: the values themselves."),
  tenantClaim: nonEmpty.optional().describe('The claim that holds the tenant of the caller.'),
})

export const accessSection = z.strictObject({
  anonymous: z
    .union(
      [
        z.literal('*'),
        z.array(nonEmpty.refine((name) => name !== '*', "stands for all agents only as anonymous: '*'")),
      ],
      "must be a list of agents, or '*' for all",
    )
    .default([])
    .describe("Agents that may be called without credentials, or '*' for all."),
  jwt: z.array(jwtIssuerSchema).prefault([]).describe('Issuers whose tokens are accepted.'),
  mtls: z
    .boolean()
    .default(false)
    .describe('Whether client certificates authenticate callers. Requires listen.tls.ca.'),
})

export const adminSection = z.strictObject({
  console: z.boolean().default(true).describe('Whether the hub serves its console at `/`.'),
  key: secret
    .min(16, 'is shorter than 16 characters: create one with `openssl rand -base64 32`')
    .optional()
    .describe(
      'The admin key. Default: created at the first start, in the file `parley.admin-key` of the data directory.',
    ),
  previousKeys: z
    .array(secret)
    .default([])
    .describe('Earlier admin keys that are still accepted, while clients change to `key`. Default: none.'),
  oidc: z
    .strictObject({
      issuer: httpUrl.describe('An issuer of access.jwt, which maps its users to the scope admin.'),
      clientId: nonEmpty.describe('The client id of the hub at the issuer; an audience of access.jwt.'),
      clientSecret: secret
        .optional()
        .describe('The client secret of the hub at the issuer. Default: none (public client with PKCE).'),
      scope: nonEmpty.default('openid profile').describe('The requested scopes.'),
    })
    .optional()
    .describe('Sign-in at the console by OpenID Connect. Default: only with the admin key.'),
})

export type JwtIssuerConfig = z.output<typeof jwtIssuerSchema>
export type AdminConfig = z.output<typeof adminSection>
