/** `/admin/rotate`: rotates the admin key, the signing keys and the master key. */
import { z } from 'zod'
import type { KeyRotation } from '../../key-rotation/key-rotation.ts'
import { durationOrOff } from '../../config/values.ts'
import { isoTime } from '../../http/json-response.ts'
import { type AdminRoute, jsonRoute, taggedRoutes, timestamp } from '../route.ts'

const maxOverlapMs = 90 * 86_400_000
export const overlapField = durationOrOff
  .refine((ms) => ms <= maxOverlapMs, 'must be at most 90d')
  .prefault('24h')
  .describe('How long the previous key is valid. off: it ends at once. Default 24h.')

export function keyRotationRoutes(rotation: KeyRotation): readonly AdminRoute[] {
  return taggedRoutes('Keys', [
    jsonRoute('POST /admin/rotate/admin', {
      name: 'rotateAdminKey',
      summary: 'Creates another admin key and shows it once.',
      description:
        'The previous key is valid for the overlap, and ends with the sessions that it opened. Fails with 409 if the configuration sets the admin key.',
      body: z
        .strictObject({
          overlap: overlapField,
        })
        .prefault({}),
      response: z.strictObject({
        key: z.string().describe('Shown only here.'),
        previousEndsAt: timestamp.describe('Until then the previous key is valid.'),
      }),
      event: 'key.rotated',
      async handle({ body }) {
        const { key, previousEndsAt } = await rotation.rotateAdminKey(body.overlap)
        return { key, previousEndsAt: isoTime(previousEndsAt) }
      },
    }),
    jsonRoute('POST /admin/rotate/signing', {
      name: 'rotateSigningKeys',
      summary: 'Creates new keys for everything that the hub signs and seals.',
      description:
        'Cards, webhooks, delegation, page tokens, sessions and secrets at rest. What older keys signed or sealed stays valid.',
      response: z.strictObject({
        rotated: z.array(z.string()).describe('The purposes with a new key.'),
        removed: z.int().describe('Old keys that were removed, because nothing needs them.'),
      }),
      event: 'key.rotated',
      async handle() {
        const { rotated, removed } = await rotation.rotateSigningKeys()
        return { rotated: [...rotated], removed }
      },
    }),
    jsonRoute('POST /admin/rotate/master', {
      name: 'rotateMasterKey',
      summary: 'Wraps the keys of the store by another master key.',
      description:
        'SQLite: the hub creates the new key in the file beside the database. PostgreSQL: all replicas must have the new key as `store.masterKey` and the old one in `store.previousMasterKeys`; otherwise it fails with 409 and says what to do.',
      response: z.strictObject({
        keys: z.int().describe('How many keys were wrapped again.'),
        fingerprint: z.string().describe('Identifies the master key without revealing it.'),
        replicas: z.int().describe('How many running replicas have it.'),
        next: z.string().describe('What is left to do.'),
      }),
      event: 'key.rotated',
      handle: () => rotation.rotateMasterKey(),
    }),
  ])
}
