/**
 * A version for clients that pass on what an agent sent: responses of 1.0 keep the fields that this SDK does not know (`toProtoJson`
 * writes them again), and errors of every version keep the code that the wire carried, as `details.wireCode`.
 */
import { A2AError } from '../model/error.ts'
import { isStruct } from '../model/struct.ts'
import { keepUnknownField } from './unknown-fields.ts'
import type { Dialect, ProtocolVersion } from './version.ts'

export function losslessVersion(version: ProtocolVersion): ProtocolVersion {
  const toLossless = (dialect: Dialect): Dialect => ({
    ...dialect,
    decodeResult: (operation, payload) => dialect.decodeResult(operation, payload, keepUnknownField),
    decodeEvent: (payload) => dialect.decodeEvent(payload, keepUnknownField),
    decodeError: (body, httpStatus) => withWireCode(dialect.decodeError(body, httpStatus), body, httpStatus),
  })
  const json = toLossless(version.json)
  return { ...version, json, proto: version.proto === version.json ? json : toLossless(version.proto) }
}

function withWireCode({ code, message, details, cause }: A2AError, body: unknown, httpStatus?: number): A2AError {
  const wireCode = wireCodeOf(isStruct(body) && isStruct(body['error']) ? body['error'] : body, httpStatus)
  return new A2AError(code, message, { ...details, ...(wireCode !== undefined && { wireCode }) }, { cause })
}

/** The number of JSON-RPC; otherwise the reason of REST and gRPC, which is exact, before their status, which is not. */
function wireCodeOf(error: unknown, httpStatus: number | undefined): string | undefined {
  if (!isStruct(error)) return httpStatus?.toString()
  const { code, status, data, details = data } = error
  if (typeof code === 'number' && code < 0) return String(code)
  const infos = Array.isArray(details) ? (details as readonly unknown[]).filter(isStruct) : []
  const reason = infos.map((info) => info['reason']).find((each) => typeof each === 'string')
  if (typeof reason === 'string') return reason
  if (typeof status === 'string') return status
  return (httpStatus ?? code)?.toString()
}
