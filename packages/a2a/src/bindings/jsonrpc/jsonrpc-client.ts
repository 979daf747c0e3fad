/** The client half of JSON-RPC. */
import type { ProtocolVersion } from '../../versions/index.ts'
import type { OutgoingBinding } from '../protocol-binding.ts'

export function jsonrpcClientBinding(version: ProtocolVersion): OutgoingBinding {
  const { json: dialect, spelling } = version
  let nextId = 0
  return {
    dialect,
    request(operation, request) {
      const method = spelling.methods[operation]
      if (method === undefined) return undefined
      nextId += 1
      const params = dialect.encodeRequest(operation, request)
      return {
        method: 'POST',
        path: '',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: nextId, method, params }),
      }
    },
    open(envelope, httpStatus) {
      // The id is not compared: HTTP already pairs the response with the request, and peers change its type.
      // Some libraries write `error: null` beside a result.
      const error = envelope['error'] ?? undefined
      if (error !== undefined || httpStatus >= 400) throw dialect.decodeError(error ?? envelope, httpStatus)
      return envelope['result']
    },
  }
}
