/** What 0.x clients ask, read and written. */
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
import { complain, flag, isBag, struct, then, word, words } from '../read.ts'
import type { Read } from '../read.ts'
import { named, required, shape } from '../shape.ts'
import { adoptMessageId, historyLength as exactLength, pageSize } from '../v1_0/requests.ts'
import { carry } from '../write.ts'
import { saysKind } from './form.ts'
import type { Form } from './form.ts'
import { messageReader, writeMessage } from './message.ts'
import { pushConfig, pushKey, taskId, taskPushConfigReader, writePushConfig, writeTaskPushConfig } from './push.ts'

type RequestReaders = { readonly [O in Operation]?: Read<RequestOf<O>> }

interface Send extends Omit<SendMessageRequest, 'tenant' | 'configuration'> {
  readonly configuration?: Configuration
}

type Configuration = Omit<SendMessageConfiguration, 'returnImmediately'> & { readonly blocking?: boolean }

/**
 * What a configuration without `blocking` asks for (B-66). In ProtoJSON it is `blocking: false`, which its writers leave
 * out. In the form of JSON-RPC it is to wait, as servers of 0.x do, unless a webhook will tell of the end.
 */
function configurationOf({ blocking, ...rest }: Configuration, form: Form): SendMessageConfiguration {
  const isLeftOut = form === 'proto' || rest.taskPushNotificationConfig !== undefined
  if (blocking === undefined && !isLeftOut) return rest
  return { ...rest, returnImmediately: blocking !== true }
}

export function requestReaders(form: Form): RequestReaders {
  // The proto cannot tell 0 from none, so there it means no limit (B-75).
  const historyLength =
    form === 'json' ? exactLength : then(exactLength, (length) => (length === 0 ? undefined : length))
  const configuration = shape<Configuration>({
    acceptedOutputModes: words,
    historyLength,
    taskPushNotificationConfig: named(
      pushConfig as Read<TaskPushNotificationConfig>,
      ...(form === 'json'
        ? ['pushNotificationConfig', 'pushNotification']
        : ['pushNotification', 'pushNotificationConfig']),
    ),
    blocking: flag,
  })
  const sendFields = shape<Send>({
    // `request` is the proto's own name.
    message: required(messageReader(form), { names: ['message', 'request'] }),
    configuration,
    metadata: struct,
  })
  const sendMessage: Read<SendMessageRequest> = (reader, value) => {
    const given = sendFields(reader, adoptMessageId(value))
    if (given?.configuration === undefined) return given
    // REST is spoken in both forms.
    const written = form === 'proto' && !saysKind(value) ? 'proto' : 'json'
    return { ...given, configuration: configurationOf(given.configuration, written) }
  }
  const id = required(taskId, { names: ['id', 'taskId', 'name'], missingAs: form === 'json' ? 'id' : 'name' })
  const taskOnly = shape<Omit<CancelTaskRequest, 'tenant'>>({ id, metadata: struct })
  return {
    SendMessage: sendMessage,
    SendStreamingMessage: sendMessage,
    GetTask: shape<Omit<GetTaskRequest, 'tenant'>>({ id, historyLength }),
    CancelTask: taskOnly,
    SubscribeToTask: then(taskOnly, ({ id }) => ({ id })),
    CreateTaskPushNotificationConfig: taskPushConfigReader(form),
    GetTaskPushNotificationConfig: pushKey(form, false),
    ListTaskPushNotificationConfigs: shape<Omit<ListTaskPushNotificationConfigsRequest, 'tenant'>>({
      taskId: required(taskId, { names: ['id', 'taskId', 'parent'], missingAs: form === 'json' ? 'id' : 'parent' }),
      pageSize,
      pageToken: word,
    }),
    DeleteTaskPushNotificationConfig: pushKey(form, true),
    GetExtendedAgentCard: (reader, value) =>
      value === undefined || value === null || isBag(value) ? {} : complain(reader, 'must be an object'),
  }
}

type RequestWriters = { readonly [O in Operation]?: (request: RequestOf<O>) => Record<string, unknown> }

function writeConfiguration(
  given: SendMessageConfiguration | undefined,
  form: Form,
  mayBlock: boolean,
): Record<string, unknown> | undefined {
  if (given === undefined && !mayBlock) return undefined
  const modes = given?.acceptedOutputModes ?? []
  const out: Record<string, unknown> = {}
  // 0.2.5 and older demand the list in every configuration.
  if (form === 'json' || modes.length > 0) out['acceptedOutputModes'] = modes
  const push = given?.taskPushNotificationConfig
  if (push !== undefined) out[form === 'json' ? 'pushNotificationConfig' : 'pushNotification'] = writePushConfig(push)
  if (given?.historyLength !== undefined && (form === 'json' || given.historyLength > 0)) {
    out['historyLength'] = given.historyLength
  }
  // Said in any case, because servers of 0.3 differ in what silence means.
  if (mayBlock) out['blocking'] = given?.returnImmediately !== true
  return out
}

export function requestWriters(form: Form): RequestWriters {
  const send = (request: SendMessageRequest, mayBlock: boolean): Record<string, unknown> => {
    const configuration = writeConfiguration(request.configuration, form, mayBlock)
    const message = writeMessage(request.message, form)
    return carry({}, { message, configuration, metadata: request.metadata }, 'message', 'configuration', 'metadata')
  }
  return {
    SendMessage: (request) => send(request, true),
    SendStreamingMessage: (request) => send(request, false),
    GetTask: (request) =>
      form === 'proto' && request.historyLength === 0 ? { id: request.id } : carry({}, request, 'id', 'historyLength'),
    CancelTask: (request) => (form === 'json' ? carry({}, request, 'id', 'metadata') : { id: request.id }),
    SubscribeToTask: (request) => ({ id: request.id }),
    CreateTaskPushNotificationConfig: (request) =>
      // REST takes the plain id into its path; its body is the whole request of the proto, which is what servers read,
      // although the annotation of the proto says that it is `config` alone.
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
      carry({ id: request.taskId }, request, ...(form === 'json' ? [] : (['pageSize', 'pageToken'] as const))),
    DeleteTaskPushNotificationConfig: (request) => writeKey(request),
    GetExtendedAgentCard: () => ({}),
  }
}

function writeKey(request: { readonly taskId: string; readonly id?: string }): Record<string, unknown> {
  return request.id === undefined
    ? { id: request.taskId }
    : { id: request.taskId, pushNotificationConfigId: request.id }
}

/** 0.x has no way to list tasks (B-87). */
export function noSuchOperation(operation: Operation): A2AError {
  return new A2AError('UNSUPPORTED_OPERATION', `${operation} does not exist in this protocol version`, { operation })
}
