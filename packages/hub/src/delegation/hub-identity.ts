/** The identity of this hub and pseudonyms of its callers for other hubs: stable, and revealing nothing else. */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Json } from '@parley/a2a'
import type { KeyValueStore } from '@parley/a2a/stores'

export interface HubIdentity {
  /** The name of the hub if none is configured. */
  readonly id: string
  /** The pseudonym of a caller: two can be compared, and nothing else can be derived. */
  subjectOf(callerId: string): string
}

/** All processes on one store are one hub. */
export async function openHubIdentity(kv: KeyValueStore): Promise<HubIdentity> {
  const fresh = { id: `urn:uuid:${randomUUID()}`, secret: randomBytes(32).toString('base64url') }
  // The first process creates it.
  await kv.write('hub', { key: 'identity', value: fresh }, 0)
  const { id, secret } = parseIdentity((await kv.read('hub', 'identity'))?.value) ?? fresh
  return {
    id,
    subjectOf: (callerId) =>
      createHash('sha256')
        .update(JSON.stringify([secret, callerId]))
        .digest('base64url')
        .slice(0, 22),
  }
}

function parseIdentity(value: Json | undefined): { readonly id: string; readonly secret: string } | undefined {
  if (typeof value !== 'object' || value === null || !('id' in value) || !('secret' in value)) return undefined
  return typeof value.id === 'string' && typeof value.secret === 'string'
    ? { id: value.id, secret: value.secret }
    : undefined
}
