/** Creates a dialect of 0.x for one form: everything else is common to JSON-RPC and REST of 0.2 and 0.3. */
import type { AgentCard } from '../../model/card.ts'
import { errorTable } from '../../model/error-table.ts'
import type { A2AError } from '../../model/error.ts'
import type {
  ListTaskPushNotificationConfigsResponse,
  Operation,
  RequestOf,
  ResultOf,
  SendMessageResponse,
  TaskPushNotificationConfig,
} from '../../model/operation.ts'
import type { Task } from '../../model/task.ts'
import { anyCard, decodeCard } from '../decode-card.ts'
import { decodeError } from '../decode-error.ts'
import { detailStrings } from '../error-detail.ts'
import { errorNameOf, javaErrorNameOf } from '../error-names.ts'
import { addViolation, readResponsePayload, readRequestPayload, mapRead, type FieldReader } from '../read.ts'
import type { Dialect } from '../version.ts'
import { encodeLegacyCard, type CardTarget } from './card.ts'
import { vocabularyOf, type LegacyForm } from './form.ts'
import { pushConfigsReader, taskPushConfigReader, writeTaskPushConfig } from './push.ts'
import { noSuchOperation, requestReaders, requestWriters } from './requests.ts'
import { seal, taskReaders, writeEvent, writeTask } from './task.ts'

/** There is no code for a missing extension before 1.0 (B-144). */
function errorNumber(error: A2AError): number {
  return error.code === 'EXTENSION_SUPPORT_REQUIRED' ? -32_600 : errorTable[error.code].jsonrpc
}

/** `reason` is always the code. The reason in the details is more specific and becomes the `cause`. */
function errorData(error: A2AError): Record<string, unknown> {
  const { violations } = error.details
  const { reason: cause, ...strings } = detailStrings(error.details)
  return {
    reason: error.code,
    ...(cause === undefined ? {} : { cause }),
    ...strings,
    ...(violations === undefined ? {} : { violations }),
  }
}

/** The text of 0.3 leaves the body open: it contains the fields that each SDK reads. */
function errorBody(error: A2AError): Record<string, unknown> {
  const code = errorNumber(error)
  return {
    code,
    message: error.message,
    data: errorData(error),
    type: errorNameOf(code),
    error: javaErrorNameOf(code),
  }
}

/** ProtoJSON calls a message's parts its content, and both forms have a webhook's fields one level deeper than 1.0. */
function spell(field: string, form: LegacyForm): string {
  const own = field
    .replace(/^(url|token|authentication)\b/, 'pushNotificationConfig.$1')
    .replace(
      /^configuration\.taskPushNotificationConfig\b/,
      `configuration.${form === 'json' ? 'pushNotificationConfig' : 'pushNotification'}`,
    )
  if (form === 'json') return own
  // The proto has a message of its own between a part and its data.
  return own.replace(/^message\.parts/, 'message.content').replace(/^(message\.content\[\d+\]\.data)\b/, '$1.data')
}

type ResultReaders = { readonly [O in Operation]?: FieldReader<ResultOf<O>> }
type ResultWriters = { readonly [O in Operation]?: (result: ResultOf<O>) => unknown }

function resultReaders(form: LegacyForm): ResultReaders {
  const { task, event } = taskReaders(form)
  const taskPushConfig = taskPushConfigReader(form)
  const sendResult: FieldReader<SendMessageResponse> = mapRead(event, (given, reader) =>
    'task' in given || 'message' in given ? given : addViolation(reader, 'must be a task or a message'),
  )
  return {
    SendMessage: sendResult,
    SendStreamingMessage: event,
    GetTask: task,
    CancelTask: task,
    SubscribeToTask: event,
    CreateTaskPushNotificationConfig: taskPushConfig,
    GetTaskPushNotificationConfig: taskPushConfig,
    ListTaskPushNotificationConfigs: pushConfigsReader(form),
    GetExtendedAgentCard: anyCard,
  }
}

function resultWriters(form: LegacyForm, target: CardTarget): ResultWriters {
  const task = (result: Task): unknown => writeTask(result, form)
  const config = (result: TaskPushNotificationConfig): unknown => writeTaskPushConfig(result, form)
  return {
    SendMessage: (result) => writeEvent(result, form),
    GetTask: task,
    CancelTask: task,
    CreateTaskPushNotificationConfig: config,
    GetTaskPushNotificationConfig: config,
    ListTaskPushNotificationConfigs: ({ configs, nextPageToken }: ListTaskPushNotificationConfigsResponse) =>
      form === 'json' ? configs.map(config) : { configs: configs.map(config), nextPageToken },
    DeleteTaskPushNotificationConfig: () => (form === 'json' ? null : {}),
    GetExtendedAgentCard: (card: AgentCard) => encodeLegacyCard(card, target),
  }
}

export function legacyDialect(id: string, target: CardTarget): Dialect {
  const { form } = target
  const readers = requestReaders(form)
  const writers = requestWriters(form)
  const results = resultReaders(form)
  const resultsOut = resultWriters(form, target)
  const { event } = taskReaders(form)

  return {
    id,
    decodeRequest<O extends Operation>(operation: O, payload: unknown): RequestOf<O> {
      const read = readers[operation]
      if (read === undefined) throw noSuchOperation(operation)
      return readRequestPayload(read, payload, vocabularyOf[form])
    },
    writeResult<O extends Operation>(operation: O, result: ResultOf<O>): unknown {
      const write = resultsOut[operation]
      if (write === undefined) throw noSuchOperation(operation)
      return write(result)
    },
    writeEvent: (event) => writeEvent(event, form),
    seal: (json, event, final) => seal(json, event, final, form),
    spell: (field) => spell(field, form),
    errorNumber,
    errorData,
    errorBody,

    encodeRequest<O extends Operation>(operation: O, request: RequestOf<O>): unknown {
      const write = writers[operation]
      if (write === undefined) throw noSuchOperation(operation)
      return write(request)
    },
    decodeResult<O extends Operation>(operation: O, payload: unknown): ResultOf<O> {
      // Servers respond with null, {} or nothing at all.
      if (operation === 'DeleteTaskPushNotificationConfig') return undefined
      const read = results[operation]
      if (read === undefined) throw noSuchOperation(operation)
      return readResponsePayload(read, payload)
    },
    decodeEvent: (payload) => readResponsePayload(event, payload),
    decodeError,

    encodeCard: (card) => encodeLegacyCard(card, target),
    decodeCard,
  }
}
