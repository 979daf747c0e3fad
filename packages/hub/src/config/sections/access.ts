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
  issuer: httpUrl.meta({ description: 'As tokens name it in `iss`.' }),
  audience: z
    .union([nonEmpty, z.array(nonEmpty).min(1)], 'give a text, or a list of texts')
    .meta({ description: 'Tokens for another audience are refused.' }),
  jwks: httpUrl.optional().meta({ description: "Where its keys are. Default: as the issuer's metadata say." }),
  algorithms: z.array(nonEmpty).min(1).optional().meta({ description: 'Default: all with a public key.' }),
  clockTolerance: duration.optional().meta({ description: 'Default 10s.' }),
  claim: nonEmpty
    .optional()
    .meta({ description: 'The claim that holds scopes, roles or groups. Default: scope, else scp, roles and groups.' }),
  scopes: z.record(z.string(), z.array(scopeSchema)).optional().meta({
    description: "What each value of the claim permits: `analysts: ['agent:analyst']`. Default: as the token says.",
  }),
  tenantClaim: nonEmpty.optional(),
})

export const accessSection = z.strictObject({
  anonymous: z
    .union([z.literal('*'), z.array(nonEmpty)], "name the agents in a list, or say '*' for all")
    .default([])
    .meta({ description: "Agents that may be called without credentials, or '*' for all." }),
  jwt: z.array(jwtIssuerSchema).prefault([]).meta({ description: 'Issuers whose tokens are believed.' }),
  mtls: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether a client certificate proves who calls. Needs listen.tls.ca.' }),
})

export const adminSection = z.strictObject({
  console: z.boolean().default(true).meta({ description: 'Whether the hub serves its console at `/`.' }),
  key: secret.min(16, 'is shorter than 16 characters: make one with `openssl rand -base64 32`').optional().meta({
    description:
      'Default: made at the first start; printed on a terminal, else in the file `parley.admin-key` of the data directory.',
  }),
  oidc: z
    .strictObject({
      issuer: httpUrl.meta({ description: 'As under access.jwt, which says who of its people runs the hub.' }),
      clientId: nonEmpty.meta({ description: 'As the issuer knows the hub; an audience of access.jwt.' }),
      clientSecret: secret.optional().meta({ description: 'Default: none, as a public client has (PKCE).' }),
      scope: nonEmpty.default('openid profile').meta({ description: 'What the issuer is asked for.' }),
    })
    .optional()
    .meta({ description: 'Signing in at the console by OpenID Connect. Default: with the admin key alone.' }),
})

export type AccessConfig = z.output<typeof accessSection>
export type JwtIssuerConfig = z.output<typeof jwtIssuerSchema>
export type AdminConfig = z.output<typeof adminSection>
