/** Requests of 1.0 clients, with the bounds of every field (§1.3). Also the bounds of 0.x, if it has the field. */
import { isStruct } from '../../model/struct.ts'
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
import { required, shape, stateFilter } from '../shape.ts'
import {
  flag,
  integer,
  nonEmptyText,
  queryFlag,
  struct,
  text,
  mapRead,
  timestamp,
  optionalText,
  textList,
  type FieldReader,
} from '../read.ts'
import { readMessage } from './objects.ts'

/** Negative or fractional values are refused (B-74). */
export const historyLength = integer(0)
/** Values out of range are refused, not clamped (B-80). */
export const pageSize = integer(1, 100)

export const authentication: FieldReader<AuthenticationInfo> = shape<AuthenticationInfo>({
  scheme: required(nonEmptyText, { fallback: '' }),
  credentials: optionalText,
})

const pushConfigFields = {
  tenant: optionalText,
  id: optionalText,
  url: required(nonEmptyText),
  token: optionalText,
  authentication,
}
export const pushConfig: FieldReader<TaskPushNotificationConfig> = shape<TaskPushNotificationConfig>({
  ...pushConfigFields,
  taskId: optionalText,
})
const createPushConfig: FieldReader<TaskPushNotificationConfig> = shape<TaskPushNotificationConfig>({
  ...pushConfigFields,
  taskId: required(nonEmptyText),
})

/** 0.x has a flag to block, 1.0 a flag not to. Half-migrated peers send the 0.x flag in 1.0. */
const configuration: FieldReader<SendMessageConfiguration> = mapRead(
  shape<SendMessageConfiguration & { blocking?: boolean }>({
    acceptedOutputModes: textList,
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

const sendFields: FieldReader<SendMessageRequest> = shape<SendMessageRequest>({
  tenant: optionalText,
  message: required(readMessage),
  configuration,
  metadata: struct,
})

const sendMessage: FieldReader<SendMessageRequest> = (reader, value) => sendFields(reader, adoptMessageId(value))

/** Examples of 0.2 put the messageId beside the message instead of into it. */
export function adoptMessageId(params: unknown): unknown {
  if (!isStruct(params) || params['messageId'] === undefined || !isStruct(params['message'])) return params
  const message = params['message']
  if ((message['messageId'] ?? message['message_id']) !== undefined) return params
  return { ...params, message: { ...message, messageId: params['messageId'] } }
}

const taskId = required(nonEmptyText, { names: ['id', 'taskId'] })

const pushKey: FieldReader<PushNotificationConfigKey> = shape<PushNotificationConfigKey>({
  tenant: optionalText,
  taskId: required(nonEmptyText),
  id: required(nonEmptyText),
})

const getExtendedCard = shape<GetExtendedAgentCardRequest>({ tenant: optionalText })

export const requests: { readonly [O in Operation]: FieldReader<RequestOf<O>> } = {
  SendMessage: sendMessage,
  SendStreamingMessage: sendMessage,
  GetTask: shape<GetTaskRequest>({ tenant: optionalText, id: taskId, historyLength }),
  ListTasks: shape<ListTasksRequest>({
    tenant: optionalText,
    contextId: optionalText,
    status: stateFilter,
    pageSize,
    pageToken: optionalText,
    historyLength,
    statusTimestampAfter: timestamp,
    includeArtifacts: queryFlag,
  }),
  CancelTask: shape<CancelTaskRequest>({ tenant: optionalText, id: taskId, metadata: struct }),
  SubscribeToTask: shape<SubscribeToTaskRequest>({ tenant: optionalText, id: taskId }),
  CreateTaskPushNotificationConfig: createPushConfig,
  GetTaskPushNotificationConfig: pushKey,
  ListTaskPushNotificationConfigs: shape<ListTaskPushNotificationConfigsRequest>({
    tenant: optionalText,
    taskId: required(nonEmptyText),
    // The proto has no presence here: its writers send 0 for absent (J-7).
    pageSize: mapRead(integer(0, 100), (size) => (size === 0 ? undefined : size)),
    pageToken: text,
  }),
  DeleteTaskPushNotificationConfig: pushKey,
  // The only operation without required params (B-40).
  GetExtendedAgentCard: (reader, value) => getExtendedCard(reader, value ?? {}),
}
