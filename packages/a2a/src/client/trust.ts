/** What a user says about whose cards are to be believed, and what is said in return. Types only. */
import type { AgentCard } from '../model/card.ts'

/**
 * Whose keys count when a card's signature is checked. Without `keys` and `jwks`: those that the card's own origin
 * publishes, where the signature says (`jku`). With either: those, and no others but of `origins`.
 */
export interface CardTrust {
  /** Public keys, as JWKs or as sets of them. */
  readonly keys?: JsonWebKeys | readonly (JsonWebKeys | { readonly [member: string]: unknown })[]
  /** Where keys are published, whatever a signature says. */
  readonly jwks?: string | URL | readonly (string | URL)[]
  /** Origins to which a signature may lead for its key. */
  readonly origins?: readonly string[]
  /** Default: ES256, ES384, EdDSA, Ed25519, RS256, PS256. */
  readonly algorithms?: readonly string[]
}
export interface JsonWebKeys {
  readonly keys: readonly { readonly [member: string]: unknown }[]
}

/** What became of the card's signature. */
export type CardSignature =
  /** Nobody asked, or there is none. */
  | { readonly status: 'unchecked' | 'unsigned' }
  /** Nothing is known: of a key or in a way that is not ours to judge. */
  | { readonly status: 'unverified'; readonly why: string }
  | {
      readonly status: 'verified'
      readonly kid: string
      readonly alg: string
      /** Where the key came from: an address, or `given`. */
      readonly keys: string
      /** Over which bytes: as the rule has them, or as some peers have. */
      readonly form: 'canonical' | 'stripped' | 'raw'
    }
export interface CheckedCard {
  readonly card: AgentCard
  readonly signature: CardSignature
}
