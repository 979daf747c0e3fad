/** The sections `listen`, `store`, `push` and `signing`: addresses, storage and push notifications. */
import { z } from 'zod'
import { duration, httpUrl, nonEmpty, port, secret } from '../values.ts'

const tlsSchema = z.strictObject({
  cert: nonEmpty.meta({ description: 'The certificate with its chain: a PEM file, or the PEM itself.' }),
  key: secret.meta({ description: 'Its private key: a PEM file, or the PEM itself.' }),
  ca: nonEmpty
    .optional()
    .meta({ description: "Who signs clients' certificates (mTLS): a PEM file, or the PEM itself." }),
  hsts: z
    .union([z.literal(false), duration], 'give a duration such as 365d, or false')
    .prefault('365d')
    .meta({ description: 'How long browsers remember that it is https only. Default 365d.' }),
})

export const listenSection = z.strictObject({
  host: nonEmpty.default('127.0.0.1').meta({ description: 'Default 127.0.0.1: this machine only.' }),
  port: port.default(3000),
  grpcPort: z
    .union([port, z.literal(false)], 'give a port from 0 to 65535, or false for no gRPC')
    .default(3001)
    .meta({ description: 'Where gRPC is spoken. false: nowhere.' }),
  tls: tlsSchema.optional(),
})

const storeUrl = z
  .string('give sqlite:<file>, memory: or postgres://user:password@host/database')
  .regex(
    /^(sqlite:|memory:$|postgres(ql)?:\/\/)/,
    'give sqlite:<file>, memory: or postgres://user:password@host/database',
  )

export const storeSection = z
  .union(
    [
      storeUrl.transform((url) => ({ url })),
      z.strictObject({
        url: storeUrl.default('sqlite:'),
        direct: nonEmpty.optional().meta({
          description: 'Where url leads to a pooler: the postgres:// url of the server itself, or none.',
        }),
        masterKey: secret.optional().meta({ description: '32 bytes as base64. Needed with PostgreSQL.' }),
      }),
    ],
    'give sqlite:<file>, memory: or postgres://user:password@host/database',
  )
  .meta({ description: 'Where tasks are kept. Default: SQLite in .parley beside this file.' })

const hosts = z.array(nonEmpty)

export const pushSection = z
  .union(
    [
      z.boolean(),
      z.strictObject({
        allow: hosts.optional().meta({ description: 'Names and ranges that webhooks may be at though not public.' }),
        only: hosts.optional().meta({ description: 'Names and addresses that webhooks must be at.' }),
        triggers: z.enum(['all', 'significant']).optional(),
        schedule: z.array(duration).optional().meta({ description: 'Waits after the first failure, the second, …' }),
        timeout: duration.optional().meta({ description: 'Of one delivery. Default 10s.' }),
        challenge: z.boolean().optional().meta({ description: 'Asks a webhook first whether it awaits us.' }),
        jwt: z.boolean().optional().meta({ description: 'Signs what is delivered. Default: if there is a publicUrl.' }),
      }),
    ],
    'say true or false, or give settings',
  )
  .prefault(true)
  .meta({ description: 'Webhooks. Default: on.' })

export const signingSection = z
  .union(
    [
      z.boolean(),
      z.strictObject({
        key: secret.optional().meta({ description: 'A private key: PEM (PKCS #8) or JWK, or a file that holds it.' }),
        alg: nonEmpty.optional(),
        kid: nonEmpty.optional(),
        previous: z.array(secret).optional(),
        jku: z.union([httpUrl, z.literal(false)]).optional(),
        rotateAfter: duration.optional(),
      }),
    ],
    'say true or false, or give settings',
  )
  .optional()
  .meta({ description: 'Whether cards are signed. Default: if there is a publicUrl.' })

export type ListenConfig = z.output<typeof listenSection>
export type TlsConfig = z.output<typeof tlsSchema>
export type StoreConfig = z.output<typeof storeSection>
export type PushSettings = z.output<typeof pushSection>
export type SigningConfig = z.output<typeof signingSection>
