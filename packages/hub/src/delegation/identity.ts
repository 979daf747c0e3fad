/** Who this hub is to other hubs, and who its callers are to them: names that stay the same and tell nothing. */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Json, Notes } from '@parley/a2a'

export interface Identity {
  /** What it calls itself where nobody has given it a name. */
  readonly id: string
  /** A caller as others may know it: who sees two of them can tell whether they are one, and nothing else. */
  subjectOf(callerId: string): string
}

/** All processes on one store are one hub. */
export async function openIdentity(notes: Notes): Promise<Identity> {
  const fresh = { id: `urn:uuid:${randomUUID()}`, secret: randomBytes(32).toString('base64url') }
  // Whoever is first has made it.
  await notes.write('hub', { key: 'identity', value: fresh }, 0)
  const { id, secret } = read((await notes.read('hub', 'identity'))?.value) ?? fresh
  return {
    id,
    subjectOf: (callerId) =>
      createHash('sha256')
        .update(JSON.stringify([secret, callerId]))
        .digest('base64url')
        .slice(0, 22),
  }
}

function read(value: Json | undefined): { readonly id: string; readonly secret: string } | undefined {
  if (typeof value !== 'object' || value === null || !('id' in value) || !('secret' in value)) return undefined
  return typeof value.id === 'string' && typeof value.secret === 'string'
    ? { id: value.id, secret: value.secret }
    : undefined
}
