/** Reads and writes the requests of 0.x clients. */
import { isStruct } from '../../model/struct.ts'
import { A2AError } from '../../model/error.ts'
import type {
  CancelTaskRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  Operation,
  RequestOf,
  SendMessageConfiguration,
  SendMessageRequest,
  TaskPushNotificationConfig,
} from '../../model/operation.ts'
import { addViolation, flag, struct, mapRead, optionalText, textList, type FieldReader } from '../read.ts'
import { named, required, shape, copyFields } from '../shape.ts'
import { adoptMessageId, historyLength as exactLength, pageSize } from '../v1_0/requests.ts'
import { hasKind, type LegacyForm } from './form.ts'
import { messageReader, writeMessage } from './message.ts'
import {
  legacyPushConfig,
  pushKey,
  taskId,
  taskPushConfigReader,
  writePushConfig,
  writeTaskPushConfig,
} from './push.ts'

type RequestReaders = { readonly [O in Operation]?: FieldReader<RequestOf<O>> }

interface LegacySendRequest extends Omit<SendMessageRequest, 'tenant' | 'configuration'> {
  readonly configuration?: Configuration
}

type Configuration = Omit<SendMessageConfiguration, 'returnImmediately'> & { readonly blocking?: boolean }

/**
 * The meaning of a configuration without `blocking` (B-66). In ProtoJSON it is `blocking: false`, which its writers omit. In
 * the JSON-RPC form it means to wait, as 0.x servers do, unless a webhook will report the end.
 */
function configurationOf({ blocking, ...rest }: Configuration, form: LegacyForm): SendMessageConfiguration {
  const isLeftOut = form === 'proto' || rest.taskPushNotificationConfig !== undefined
  if (blocking === undefined && !isLeftOut) return rest
  return { ...rest, returnImmediately: blocking !== true }
}

export function requestReaders(form: LegacyForm): RequestReaders {
  // The proto cannot distinguish 0 from absent, so there it means no limit (B-75).
  const historyLength =
    form === 'json' ? exactLength : mapRead(exactLength, (length) => (length === 0 ? undefined : length))
  const configuration = shape<Configuration>({
    acceptedOutputModes: textList,
    historyLength,
    taskPushNotificationConfig: named(
      legacyPushConfig as FieldReader<TaskPushNotificationConfig>,
      ...(form === 'json'
        ? ['pushNotificationConfig', 'pushNotification']
        : ['pushNotification', 'pushNotificationConfig']),
    ),
    blocking: flag,
  })
  const sendFields = shape<LegacySendRequest>({
    // `request` is the proto's own name.
    message: required(messageReader(form), { names: ['message', 'request'] }),
    configuration,
    metadata: struct,
  })
  const sendMessage: FieldReader<SendMessageRequest> = (reader, value) => {
    const given = sendFields(reader, adoptMessageId(value))
    if (given?.configuration === undefined) return given
    // REST peers use both forms.
    const written = form === 'proto' && !hasKind(value) ? 'proto' : 'json'
    return { ...given, configuration: configurationOf(given.configuration, written) }
  }
  const id = required(taskId, { names: ['id', 'taskId', 'name'], missingAs: form === 'json' ? 'id' : 'name' })
  const taskOnly = shape<Omit<CancelTaskRequest, 'tenant'>>({ id, metadata: struct })
  return {
    SendMessage: sendMessage,
    SendStreamingMessage: sendMessage,
    GetTask: shape<Omit<GetTaskRequest, 'tenant'>>({ id, historyLength }),
    CancelTask: taskOnly,
    SubscribeToTask: mapRead(taskOnly, ({ id }) => ({ id })),
    CreateTaskPushNotificationConfig: taskPushConfigReader(form),
    GetTaskPushNotificationConfig: pushKey(form, false),
    ListTaskPushNotificationConfigs: shape<Omit<ListTaskPushNotificationConfigsRequest, 'tenant'>>({
      taskId: required(taskId, { names: ['id', 'taskId', 'parent'], missingAs: form === 'json' ? 'id' : 'parent' }),
      pageSize,
      pageToken: optionalText,
    }),
    DeleteTaskPushNotificationConfig: pushKey(form, true),
    GetExtendedAgentCard: (reader, value) =>
      value === undefined || value === null || isStruct(value) ? {} : addViolation(reader, 'must be an object'),
  }
}

type RequestWriters = { readonly [O in Operation]?: (request: RequestOf<O>) => Record<string, unknown> }

function writeConfiguration(
  given: SendMessageConfiguration | undefined,
  form: LegacyForm,
  mayBlock: boolean,
): Record<string, unknown> | undefined {
  if (given === undefined && !mayBlock) return undefined
  const modes = given?.acceptedOutputModes ?? []
  const out: Record<string, unknown> = {}
  // 0.2.5 and older require the list in every configuration.
  if (form === 'json' || modes.length > 0) out['acceptedOutputModes'] = modes
  const push = given?.taskPushNotificationConfig
  if (push !== undefined) out[form === 'json' ? 'pushNotificationConfig' : 'pushNotification'] = writePushConfig(push)
  if (given?.historyLength !== undefined && (form === 'json' || given.historyLength > 0)) {
    out['historyLength'] = given.historyLength
  }
  // Always written, because 0.3 servers differ in the default.
  if (mayBlock) out['blocking'] = given?.returnImmediately !== true
  return out
}

export function requestWriters(form: LegacyForm): RequestWriters {
  const send = (request: SendMessageRequest, mayBlock: boolean): Record<string, unknown> => {
    const configuration = writeConfiguration(request.configuration, form, mayBlock)
    const message = writeMessage(request.message, form)
    return copyFields(
      {},
      { message, configuration, metadata: request.metadata },
      'message',
      'configuration',
      'metadata',
    )
  }
  return {
    SendMessage: (request) => send(request, true),
    SendStreamingMessage: (request) => send(request, false),
    GetTask: (request) =>
      form === 'proto' && request.historyLength === 0
        ? { id: request.id }
        : copyFields({}, request, 'id', 'historyLength'),
    CancelTask: (request) => (form === 'json' ? copyFields({}, request, 'id', 'metadata') : { id: request.id }),
    SubscribeToTask: (request) => ({ id: request.id }),
    CreateTaskPushNotificationConfig: (request) =>
      // REST takes the plain id into its path; its body is the whole request of the proto, which is what servers read, although
      // the annotation of the proto says that it is `config` alone.
      form === 'json'
        ? writeTaskPushConfig(request, form)
        : {
            taskId: request.taskId,
            parent: `tasks/${request.taskId ?? ''}`,
            ...(request.id !== undefined ? { configId: request.id } : {}),
            config: writeTaskPushConfig(request, form),
          },
    GetTaskPushNotificationConfig: (request) => writeKey(request),
    ListTaskPushNotificationConfigs: (request) =>
      copyFields({ id: request.taskId }, request, ...(form === 'json' ? [] : (['pageSize', 'pageToken'] as const))),
    DeleteTaskPushNotificationConfig: (request) => writeKey(request),
    GetExtendedAgentCard: () => ({}),
  }
}

function writeKey(request: { readonly taskId: string; readonly id?: string }): Record<string, unknown> {
  return request.id === undefined
    ? { id: request.taskId }
    : { id: request.taskId, pushNotificationConfigId: request.id }
}

/** 0.x cannot list tasks (B-87). */
export function noSuchOperation(operation: Operation): A2AError {
  return new A2AError('UNSUPPORTED_OPERATION', `${operation} does not exist in this protocol version`, { operation })
}
