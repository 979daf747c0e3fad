/** Types of the `trust` option for card signatures, and of the result of the check. Types only. */
import type { AgentCard } from '../../model/card.ts'

/**
 * Which keys count when a card's signature is checked. Without `keys` and `jwks`: the keys that the card's own origin
 * publishes at the URL in the signature (`jku`). With either of them: only those keys, and keys from `origins`.
 */
export interface CardTrust {
  /** Public keys, as JWKs or as sets of them. */
  readonly keys?: JsonWebKeySet | readonly (JsonWebKeySet | { readonly [member: string]: unknown })[]
  /** URLs of key sets, used whatever a signature says. */
  readonly jwks?: string | URL | readonly (string | URL)[]
  /** Origins from which a signature may load its key. */
  readonly origins?: readonly string[]
  /** Default: ES256, ES384, EdDSA, Ed25519, RS256, PS256. */
  readonly algorithms?: readonly string[]
}
/** A JSON Web Key Set (RFC 7517). */
export interface JsonWebKeySet {
  readonly keys: readonly { readonly [member: string]: unknown }[]
}

/** The result of checking the card's signature. */
export type CardSignature =
  /** Verification is off, or the card has no signature. */
  | { readonly status: 'unchecked' | 'unsigned' }
  /** The signature could not be checked: its key or its algorithm is not one that we can use. */
  | { readonly status: 'unverified'; readonly why: string }
  | {
      readonly status: 'verified'
      readonly kid: string
      readonly alg: string
      /** Where the key came from: a URL, or `given`. */
      readonly keys: string
      /** Which bytes were signed: those of the specification, or those that some peers use. */
      readonly form: 'canonical' | 'stripped' | 'raw'
    }
/** A card with the result of its signature check. */
export interface CheckedCard {
  readonly card: AgentCard
  readonly signature: CardSignature
}
