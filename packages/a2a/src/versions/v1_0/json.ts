/**
 * The dialect of 1.0, for JSON-RPC, REST and in ProtoJSON form for gRPC. It reads and writes canonical objects, so writing is
 * only JSON.stringify.
 */
import { errorTable } from '../../model/error-table.ts'
import type { Operation, RequestOf, ResultOf } from '../../model/operation.ts'
import { decodeCard } from '../decode-card.ts'
import { decodeError } from '../decode-error.ts'
import { encodeDetails } from '../error-detail.ts'
import { readResponsePayload, readRequestPayload } from '../read.ts'
import type { Dialect } from '../version.ts'
import { encodeCard } from './card.ts'
import { readEvent } from './objects.ts'
import { requests } from './requests.ts'
import { results } from './results.ts'

export const json: Dialect = {
  id: '1.0',
  spell: (field) => field,

  decodeRequest<O extends Operation>(operation: O, payload: unknown): RequestOf<O> {
    return readRequestPayload<RequestOf<O>>(requests[operation], payload)
  },
  encodeResult(operation, result) {
    // ProtoJSON's Empty.
    return operation === 'DeleteTaskPushNotificationConfig' ? '{}' : JSON.stringify(result)
  },
  encodeEvent: (event) => JSON.stringify(event),
  seal: (json) => json,
  errorNumber: (error) => errorTable[error.code].jsonrpc,
  errorData: encodeDetails,
  errorBody(error) {
    const { http, grpc } = errorTable[error.code]
    return { error: { code: http, status: grpc, message: error.message, details: encodeDetails(error) } }
  },

  encodeRequest: (_operation, request) => request,
  decodeResult<O extends Operation>(operation: O, payload: unknown): ResultOf<O> {
    // Servers respond with null, {} or nothing at all.
    if (operation === 'DeleteTaskPushNotificationConfig') return undefined
    return readResponsePayload<ResultOf<O>>(results[operation], payload)
  },
  decodeEvent: (payload) => readResponsePayload(readEvent, payload),
  decodeError,

  encodeCard,
  decodeCard,
}
