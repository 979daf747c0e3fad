/**
 * The dialect of 1.0, for JSON-RPC, REST and in ProtoJSON form for gRPC. It reads and writes canonical objects, so writing is
 * only JSON.stringify.
 */
import { errorTable } from '../../model/error-table.ts'
import type {
  ListTaskPushNotificationConfigsResponse,
  ListTasksResponse,
  Operation,
  RequestOf,
  ResultOf,
  SendMessageResponse,
} from '../../model/operation.ts'
import { anyCard, decodeCard } from '../decode-card.ts'
import { decodeError } from '../decode-error.ts'
import { encodeDetails } from '../error-detail.ts'
import type { FieldReader, UnknownFieldListener } from '../read.ts'
import { addViolation, integer, list, mapRead, readRequestPayload, readResponsePayload, text } from '../read.ts'
import { required, shape } from '../shape.ts'
import type { Dialect } from '../version.ts'
import { encodeCard } from './card.ts'
import { readEvent, readTask } from './objects.ts'
import { pushConfig, requests } from './requests.ts'

export const json: Dialect = {
  id: '1.0',
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
    // Servers respond with null, {} or nothing at all.
    if (operation === 'DeleteTaskPushNotificationConfig') return undefined
    return readResponsePayload<ResultOf<O>>(results[operation], payload, 'result', true, onUnknownField)
  },
  decodeEvent: (payload, onUnknownField) => readResponsePayload(readEvent, payload, 'result', true, onUnknownField),
  decodeError,

  encodeCard,
  decodeCard,
}

// Reads responses of 1.0 servers, forgivingly.

const sendResult: FieldReader<SendMessageResponse> = mapRead(readEvent, (given, reader) =>
  'task' in given || 'message' in given ? given : addViolation(reader, 'must have one of task and message'),
)

const taskPage: FieldReader<ListTasksResponse> = shape<ListTasksResponse>({
  tasks: required(list(readTask), { fallback: [] }),
  nextPageToken: required(text, { fallback: '' }),
  pageSize: required(integer(0), { fallback: 0 }),
  totalSize: required(integer(0), { fallback: 0 }),
})

const configPage: FieldReader<ListTaskPushNotificationConfigsResponse> = shape<ListTaskPushNotificationConfigsResponse>(
  {
    configs: required(list(pushConfig), { fallback: [] }),
    nextPageToken: required(text, { fallback: '' }),
  },
)

const results: { readonly [O in Operation]: FieldReader<ResultOf<O>> } = {
  SendMessage: sendResult,
  SendStreamingMessage: readEvent,
  GetTask: readTask,
  ListTasks: taskPage,
  CancelTask: readTask,
  SubscribeToTask: readEvent,
  CreateTaskPushNotificationConfig: pushConfig,
  GetTaskPushNotificationConfig: pushConfig,
  ListTaskPushNotificationConfigs: configPage,
  DeleteTaskPushNotificationConfig: () => undefined,
  GetExtendedAgentCard: anyCard,
}
