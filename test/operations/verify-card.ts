/** Verifies a signed card as a client does: one of its signatures must be by a published key. */
import { createLocalJWKSet, flattenedVerify, type JSONWebKeySet } from 'jose'
import { signedReadings } from '../../packages/a2a/src/versions/signed-card.ts'

export async function verifyCard(card: Record<string, unknown>, keys: JSONWebKeySet): Promise<void> {
  const signatures = card['signatures'] as readonly { readonly protected: string; readonly signature: string }[]
  const [reading] = signedReadings(card)
  const payload = Buffer.from(reading?.text ?? '').toString('base64url')
  const known = createLocalJWKSet(keys)
  await Promise.any(signatures.map((signature) => flattenedVerify({ ...signature, payload }, known)))
}
