/** The sections `listen`, `store`, `push` and `signing`: addresses, storage and push notifications. */
import { z } from 'zod'
import { duration, httpUrl, nonEmpty, port, secret } from '../values.ts'

const tlsSchema = z.strictObject({
  cert: nonEmpty.describe('The certificate with its chain: a PEM file, or the PEM itself.'),
  key: secret.describe('Its private key: a PEM file, or the PEM itself.'),
  ca: nonEmpty.optional().describe('The authority of client certificates (mTLS): a PEM file, or the PEM itself.'),
  hsts: z
    .union([z.literal(false), duration], 'must be a duration such as 365d, or false')
    .prefault('365d')
    .describe('The max-age of Strict-Transport-Security. Default 365d.'),
})

export const listenSection = z.strictObject({
  host: nonEmpty.default('127.0.0.1').describe('The address to listen on. The default is loopback only.'),
  port: port.default(3000).describe('The HTTP port. 0: a free port.'),
  grpcPort: z
    .union([port, z.literal(false)], 'must be a port from 0 to 65535, or false to disable gRPC')
    .optional()
    .describe('The gRPC port, which cards list. Default: 3001, served but not listed. false: disabled.'),
  tls: tlsSchema.optional().describe('Serves HTTPS. Default: plain HTTP.'),
})

type ListenConfig = z.infer<typeof listenSection>

/** The shared gRPC port that the hub opens; `false` if gRPC is disabled. With port 0, the system chooses both ports by default. */
export function sharedGrpcPort({ port: httpPort, grpcPort }: ListenConfig): number | false {
  return grpcPort ?? (httpPort === 0 ? 0 : 3001)
}

/** Cards list the default port only if it was set: some clients refuse a card with an address that is not a URL. */
export function listsSharedGrpc({ listen, grpcUrl }: { listen: ListenConfig; grpcUrl?: string | undefined }): boolean {
  return grpcUrl !== undefined || typeof listen.grpcPort === 'number'
}

const storeUrl = z
  .string('must be sqlite:<file>, memory: or postgres://user:password@host/database')
  .regex(
    /^(sqlite:|memory:$|postgres(ql)?:\/\/)/,
    'must be sqlite:<file>, memory: or postgres://user:password@host/database',
  )

export const storeSection = z
  .union(
    [
      storeUrl.transform((url) => ({ url })),
      z.strictObject({
        url: storeUrl.default('sqlite:').describe('sqlite:<file>, memory: or postgres://user:password@host/database.'),
        direct: nonEmpty.optional().describe('If url is a pooler: the postgres:// URL of the server itself, or none.'),
        masterKey: secret.optional().describe('32 bytes as base64. Required with PostgreSQL.'),
        previousMasterKeys: z
          .array(secret)
          .optional()
          .describe('Earlier master keys, while the master key is rotated with `parley key rotate master`.'),
      }),
    ],
    'must be sqlite:<file>, memory: or postgres://user:password@host/database',
  )
  .describe('Where tasks are kept. Default: SQLite in .parley beside this file.')

const hosts = z.array(nonEmpty)

export const pushSection = z
  .union(
    [
      z.boolean(),
      z.strictObject({
        allow: hosts.optional().describe('Private hosts and ranges that webhooks may use.'),
        only: hosts.optional().describe('The only hosts and addresses that webhooks may use.'),
        triggers: z
          .enum(['all', 'significant'])
          .optional()
          .describe('Events that clients of 1.0 receive: all, or status changes that matter. Default: significant.'),
        schedule: z.array(duration).optional().describe('Delays after the first failure, the second, …'),
        timeout: duration.optional().describe('The timeout of one delivery. Default 10s.'),
        challenge: z.boolean().optional().describe('Validates a webhook before its first delivery.'),
        jwt: z.boolean().optional().describe('Signs deliveries. Default: if publicUrl is set.'),
      }),
    ],
    'must be true, false or a mapping',
  )
  .prefault(true)
  .describe('Webhooks. Default: on.')

export const signingSection = z
  .union(
    [
      z.boolean(),
      z.strictObject({
        key: secret.optional().describe('A private key: PEM (PKCS #8) or JWK, or a file that holds it.'),
        alg: nonEmpty.optional().describe('The signature algorithm. Default: by the key.'),
        kid: nonEmpty.optional().describe('The key id. Default: that of the key, or its thumbprint.'),
        previous: z.array(secret).optional().describe('Earlier keys. They stay published, and the first also signs.'),
        jku: z
          .union([httpUrl, z.literal(false)])
          .optional()
          .describe('Another URL of the public keys, or false for none. Default: /.well-known/jwks.json.'),
        rotateAfter: duration.optional().describe('The maximum age of a key that the hub created. Default: unlimited.'),
      }),
    ],
    'must be true, false or a mapping',
  )
  .optional()
  .describe('Whether cards are signed. Default: if there is a publicUrl.')
