/**
 * The dialect of 1.0 and later, for JSON-RPC, REST and in ProtoJSON form for gRPC. It reads and writes canonical objects, so writing is
 * only JSON.stringify.
 */
import { errorTable } from '../../model/error-table.ts'
import type {
  ListTaskPushNotificationConfigsResponse,
  ListTasksResponse,
  Operation,
  RequestOf,
  ResultOf,
} from '../../model/operation.ts'
import type { Task } from '../../model/task.ts'
import { anyCard, decodeCard } from '../decode-card.ts'
import { decodeError } from '../decode-error.ts'
import { encodeDetails } from '../error-detail.ts'
import type { FieldReader, UnknownFieldListener } from '../read.ts'
import { addViolation, integer, list, mapRead, readRequestPayload, readResponsePayload, text } from '../read.ts'
import { required, shape } from '../shape.ts'
import type { Dialect } from '../version.ts'
import { encodeCard } from './card.ts'
import { eventReader } from './objects.ts'
import { pushConfig, requests } from './requests.ts'

/** A dialect of 1.x, whose versions differ in the fields of a task. */
export function canonicalDialect(id: string, readTask: FieldReader<Task>): Dialect {
  const readEvent = eventReader(readTask)
  const page = { nextPageToken: required(text, { fallback: '' }) }
  const results: { readonly [O in Operation]?: FieldReader<ResultOf<O>> } = {
    SendMessage: mapRead(readEvent, (event, reader) =>
      'task' in event || 'message' in event ? event : addViolation(reader, 'must have one of task and message'),
    ),
    SendStreamingMessage: readEvent,
    GetTask: readTask,
    ListTasks: shape<ListTasksResponse>({
      ...page,
      tasks: required(list(readTask), { fallback: [] }),
      pageSize: required(integer(0), { fallback: 0 }),
      totalSize: required(integer(0), { fallback: 0 }),
    }),
    CancelTask: readTask,
    SubscribeToTask: readEvent,
    CreateTaskPushNotificationConfig: pushConfig,
    GetTaskPushNotificationConfig: pushConfig,
    ListTaskPushNotificationConfigs: shape<ListTaskPushNotificationConfigsResponse>({
      ...page,
      configs: required(list(pushConfig), { fallback: [] }),
    }),
    GetExtendedAgentCard: anyCard,
  }
  return {
    id,
    spell: (field) => field,

    decodeRequest<O extends Operation>(operation: O, payload: unknown): RequestOf<O> {
      return readRequestPayload<RequestOf<O>>(requests[operation], payload)
    },
    // ProtoJSON's Empty.
    writeResult: (operation, result) => (operation === 'DeleteTaskPushNotificationConfig' ? {} : result),
    writeEvent: (event) => event,
    seal: (json) => json,
    writesCanonicalEvents: true,
    errorNumber: (error) => errorTable[error.code].jsonrpc,
    errorData: encodeDetails,
    errorBody(error) {
      const { http, grpc } = errorTable[error.code]
      return { error: { code: http, status: grpc, message: error.message, details: encodeDetails(error) } }
    },

    encodeRequest: (_operation, request) => request,
    decodeResult<O extends Operation>(
      operation: O,
      payload: unknown,
      onUnknownField?: UnknownFieldListener,
    ): ResultOf<O> {
      const read = results[operation]
      // For a deleted config servers respond with null, {} or nothing at all.
      return read && readResponsePayload<ResultOf<O>>(read, payload, 'result', true, onUnknownField)
    },
    decodeEvent: (payload, onUnknownField) => readResponsePayload(readEvent, payload, 'result', true, onUnknownField),
    decodeError,

    encodeCard,
    decodeCard,
  }
}
