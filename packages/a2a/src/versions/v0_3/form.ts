/**
 * 0.3 has two payload forms: that of its JSON schema, which JSON-RPC carries, and the ProtoJSON of its proto, which
 * REST and gRPC carry. REST is spoken in both in the wild, so each form reads the other's names too.
 */
export type Form = 'json' | 'proto'
