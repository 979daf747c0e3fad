/**
 * 0.3 has two payload forms: that of its JSON schema, which JSON-RPC carries, and the ProtoJSON of its proto, which REST and
 * gRPC carry. Deployed REST peers use both, so each form reads the other's names too.
 */
import { legacyJsonVocabulary, legacyProtoVocabulary, type Vocabulary } from '../vocabulary.ts'

export type LegacyForm = 'json' | 'proto'

export const vocabularyOf: { readonly [F in LegacyForm]: Vocabulary } = {
  json: legacyJsonVocabulary,
  proto: legacyProtoVocabulary,
}

/** Clients that follow the schema mark their messages; those that follow the proto do not. */
export function hasKind(body: unknown): boolean {
  const message = typeof body === 'object' && body !== null && 'message' in body ? body.message : undefined
  return typeof message === 'object' && message !== null && 'kind' in message
}
