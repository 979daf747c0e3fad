/**
 * 0.3 has two payload forms: that of its JSON schema, which JSON-RPC carries, and the ProtoJSON of its proto, which
 * REST and gRPC carry. REST is spoken in both in the wild, so each form reads the other's names too.
 */
import { legacyJsonVocabulary, legacyProtoVocabulary } from '../vocabulary.ts'
import type { Vocabulary } from '../vocabulary.ts'

export type Form = 'json' | 'proto'

export const vocabularyOf: { readonly [F in Form]: Vocabulary } = {
  json: legacyJsonVocabulary,
  proto: legacyProtoVocabulary,
}

/** Clients after the schema mark their messages; those after the proto do not. */
export function saysKind(body: unknown): boolean {
  const message = typeof body === 'object' && body !== null && 'message' in body ? body.message : undefined
  return typeof message === 'object' && message !== null && 'kind' in message
}
