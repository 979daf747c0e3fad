/**
 * Signs cards (B-29, B-30): JWS over the canonical 1.0 view, payload detached. A card is signed once and the signatures are cached:
 * requests do not sign, and the same card has the same bytes as long as the same keys sign.
 */
import type { AgentCard, AgentCardSignature } from '../../model/card.ts'
import { signedText } from '../../versions/signed-card.ts'
import type { CardKeys } from './card-keys.ts'
import { jwksPath, type KeyPublisher } from '../keys/jwks.ts'

export interface CardSigner extends KeyPublisher {
  /** Returns the card with its signatures. `base` is the URL that serves the server's key list. */
  sign(card: AgentCard, base: string): Promise<AgentCard>
}

/** Extended cards may differ between callers; an evicted card is signed again. */
const maxCachedSignatures = 1_000

export function createCardSigner(keys: CardKeys, jku: string | false | undefined): CardSigner {
  const kept = new Map<string, Promise<readonly AgentCardSignature[]>>()

  async function make(text: string, keySet: string | undefined): Promise<readonly AgentCardSignature[]> {
    const { FlattenedSign } = await import('jose')
    const payload = new TextEncoder().encode(text)
    return Promise.all(
      (await keys.signing()).map(async ({ kid, alg, privateKey }) => {
        // Published verifiers refuse a header without `typ`.
        const header = { alg, kid, typ: 'JOSE', ...(keySet !== undefined ? { jku: keySet } : {}) }
        const made = await new FlattenedSign(payload).setProtectedHeader(header).sign(privateKey)
        return { protected: made.protected ?? '', signature: made.signature }
      }),
    )
  }

  return {
    async sign(card, base) {
      const keySet = jku === false ? undefined : (jku ?? base + jwksPath)
      const text = signedText(card)
      const kids = (await keys.signing()).map(({ kid }) => kid)
      const key = JSON.stringify([kids, keySet, text])
      let signatures = kept.get(key)
      if (signatures === undefined) {
        signatures = make(text, keySet)
        if (kept.size >= maxCachedSignatures) kept.clear()
        kept.set(key, signatures)
        signatures.catch(() => kept.delete(key))
      }
      return { ...card, signatures: await signatures }
    },
    async jwks() {
      return { keys: await keys.published() }
    },
  }
}
