/** A version for clients that pass on what an agent sent: responses of 1.0 keep the fields that this SDK does not know. */
import { keepUnknownField } from './unknown-fields.ts'
import type { ProtocolVersion } from './index.ts'
import type { Dialect } from './version.ts'

export function losslessVersion(version: ProtocolVersion): ProtocolVersion {
  const toLossless = (dialect: Dialect): Dialect => ({
    ...dialect,
    decodeResult: (operation, payload) => dialect.decodeResult(operation, payload, keepUnknownField),
    decodeEvent: (payload) => dialect.decodeEvent(payload, keepUnknownField),
  })
  const json = toLossless(version.json)
  return { ...version, json, proto: version.proto === version.json ? json : toLossless(version.proto) }
}
