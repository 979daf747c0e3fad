/** What 1.0 clients ask, with the bounds of every field (§1.3). Also the bounds of 0.x, where it has the field. */
import type {
  AuthenticationInfo,
  CancelTaskRequest,
  GetExtendedAgentCardRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTasksRequest,
  Operation,
  PushNotificationConfigKey,
  RequestOf,
  SendMessageConfiguration,
  SendMessageRequest,
  SubscribeToTaskRequest,
  TaskPushNotificationConfig,
} from '../../model/operation.ts'
import { stateFilter } from '../names.ts'
import { flag, integer, isBag, name, queryFlag, struct, text, then, timestamp, word, words } from '../read.ts'
import type { Read } from '../read.ts'
import { required, shape } from '../shape.ts'
import { message } from './objects.ts'

/** Negative or fractional is refused (B-74). */
export const historyLength = integer(0)
/** Out of range is refused, not clamped (B-80). */
export const pageSize = integer(1, 100)

export const authentication: Read<AuthenticationInfo> = shape<AuthenticationInfo>({
  scheme: required(name, { fallback: '' }),
  credentials: word,
})

const pushConfigFields = { tenant: word, id: word, url: required(name), token: word, authentication }
export const pushConfig: Read<TaskPushNotificationConfig> = shape<TaskPushNotificationConfig>({
  ...pushConfigFields,
  taskId: word,
})
const createPushConfig: Read<TaskPushNotificationConfig> = shape<TaskPushNotificationConfig>({
  ...pushConfigFields,
  taskId: required(name),
})

/** 0.x asks to block, 1.0 asks not to. Peers that moved on halfway ask 1.0 to block. */
const configuration: Read<SendMessageConfiguration> = then(
  shape<SendMessageConfiguration & { blocking?: boolean }>({
    acceptedOutputModes: words,
    taskPushNotificationConfig: pushConfig,
    historyLength,
    returnImmediately: flag,
    blocking: flag,
  }),
  (given) => {
    if (given.blocking === undefined) return given
    const { blocking, ...rest } = given
    return { returnImmediately: !blocking, ...rest }
  },
)

const sendFields: Read<SendMessageRequest> = shape<SendMessageRequest>({
  tenant: word,
  message: required(message),
  configuration,
  metadata: struct,
})

const sendMessage: Read<SendMessageRequest> = (reader, value) => sendFields(reader, adoptMessageId(value))

/** Examples of 0.2 put the messageId beside the message instead of into it. */
export function adoptMessageId(params: unknown): unknown {
  if (!isBag(params) || params['messageId'] === undefined || !isBag(params['message'])) return params
  const message = params['message']
  if ((message['messageId'] ?? message['message_id']) !== undefined) return params
  return { ...params, message: { ...message, messageId: params['messageId'] } }
}

const taskId = required(name, { names: ['id', 'taskId'] })

const pushKey: Read<PushNotificationConfigKey> = shape<PushNotificationConfigKey>({
  tenant: word,
  taskId: required(name),
  id: required(name),
})

const getExtendedCard = shape<GetExtendedAgentCardRequest>({ tenant: word })

export const requests: { readonly [O in Operation]: Read<RequestOf<O>> } = {
  SendMessage: sendMessage,
  SendStreamingMessage: sendMessage,
  GetTask: shape<GetTaskRequest>({ tenant: word, id: taskId, historyLength }),
  ListTasks: shape<ListTasksRequest>({
    tenant: word,
    contextId: word,
    status: stateFilter,
    pageSize,
    pageToken: word,
    historyLength,
    statusTimestampAfter: timestamp,
    includeArtifacts: queryFlag,
  }),
  CancelTask: shape<CancelTaskRequest>({ tenant: word, id: taskId, metadata: struct }),
  SubscribeToTask: shape<SubscribeToTaskRequest>({ tenant: word, id: taskId }),
  CreateTaskPushNotificationConfig: createPushConfig,
  GetTaskPushNotificationConfig: pushKey,
  ListTaskPushNotificationConfigs: shape<ListTaskPushNotificationConfigsRequest>({
    tenant: word,
    taskId: required(name),
    // Without presence in the proto: 0 is what its writers say who mean nothing (J-7).
    pageSize: then(integer(0, 100), (size) => (size === 0 ? undefined : size)),
    pageToken: text,
  }),
  DeleteTaskPushNotificationConfig: pushKey,
  // The only operation that may come without params (B-40).
  GetExtendedAgentCard: (reader, value) => getExtendedCard(reader, value ?? {}),
}
