/**
 * The requests of the conversations, spelled by hand for every version and binding: what clients send must not change with the
 * codecs under test.
 */
export type Version = '0.2' | '0.3' | '1.0'
export type Binding = 'JSONRPC' | 'REST' | 'gRPC'
export interface Variant {
  readonly version: Version
  readonly binding: Binding
}

export type Operation =
  | 'SendMessage'
  | 'SendStreamingMessage'
  | 'GetTask'
  | 'ListTasks'
  | 'CancelTask'
  | 'SubscribeToTask'
  | 'CreatePushConfig'
  | 'GetPushConfig'
  | 'ListPushConfigs'
  | 'DeletePushConfig'
  | 'GetExtendedCard'

type Json = Readonly<Record<string, unknown>>

/** A part in the form of 1.0. */
export interface PartSpec {
  readonly text?: string
  readonly raw?: string
  readonly url?: string
  readonly data?: unknown
  readonly filename?: string
  readonly mediaType?: string
  readonly metadata?: Json
}

export interface PushSpec {
  readonly id?: string
  readonly url: string
  readonly token?: string
  readonly scheme?: string
  readonly credentials?: string
}

/** The parameters of any operation. */
export interface Params {
  readonly messageId?: string
  readonly text?: string
  readonly parts?: readonly PartSpec[]
  readonly taskId?: string | undefined
  readonly contextId?: string | undefined
  readonly referenceTaskIds?: readonly string[]
  readonly extensions?: readonly string[]
  readonly messageMetadata?: Json
  readonly metadata?: Json
  /** Whether the call waits for the end of the turn. `null`: the request does not say. Default true. */
  readonly waits?: boolean | null
  readonly historyLength?: number
  readonly acceptedOutputModes?: readonly string[]
  readonly push?: PushSpec
  readonly pushConfigId?: string
  readonly pageSize?: number
  readonly pageToken?: string
  readonly status?: string
  readonly includeArtifacts?: boolean
}

export interface HttpSpelling {
  readonly verb: string
  readonly path: string
  readonly body?: unknown
}

export interface GrpcSpelling {
  /** `/package.Service/Method`. */
  readonly path: string
  readonly message: unknown
}

export const extensionsHeader = ({ version }: Variant): string =>
  version === '1.0' ? 'a2a-extensions' : 'x-a2a-extensions'

/** `undefined`: this version has no such operation in this binding. */
export function spell(variant: Variant, operation: Operation, params: Params): HttpSpelling | GrpcSpelling | undefined {
  const form = variant.version === '1.0' ? newForm : variant.binding === 'JSONRPC' ? legacyJson : legacyProto
  const payload = clean(form[payloadKind(operation)](params))
  switch (variant.binding) {
    case 'JSONRPC': {
      const method = variant.version === '1.0' ? newMethods[operation] : legacyMethods[operation]
      if (method === undefined || (variant.version === '0.2' && operation === 'GetExtendedCard')) return undefined
      return { verb: 'POST', path: '', body: { jsonrpc: '2.0', id: 1, method, params: payload } }
    }
    case 'REST':
      return variant.version === '1.0' ? newRoute(operation, params, payload) : legacyRoute(operation, params, payload)
    case 'gRPC': {
      if (variant.version === '1.0') return { path: `/lf.a2a.v1.A2AService/${newMethods[operation]}`, message: payload }
      const rpc = legacyRpcs[operation]
      return rpc === undefined ? undefined : { path: `/a2a.v1.A2AService/${rpc}`, message: payload }
    }
  }
}

const newMethods: Readonly<Record<Operation, string>> = {
  SendMessage: 'SendMessage',
  SendStreamingMessage: 'SendStreamingMessage',
  GetTask: 'GetTask',
  ListTasks: 'ListTasks',
  CancelTask: 'CancelTask',
  SubscribeToTask: 'SubscribeToTask',
  CreatePushConfig: 'CreateTaskPushNotificationConfig',
  GetPushConfig: 'GetTaskPushNotificationConfig',
  ListPushConfigs: 'ListTaskPushNotificationConfigs',
  DeletePushConfig: 'DeleteTaskPushNotificationConfig',
  GetExtendedCard: 'GetExtendedAgentCard',
}

const legacyMethods: Readonly<Partial<Record<Operation, string>>> = {
  SendMessage: 'message/send',
  SendStreamingMessage: 'message/stream',
  GetTask: 'tasks/get',
  CancelTask: 'tasks/cancel',
  SubscribeToTask: 'tasks/resubscribe',
  CreatePushConfig: 'tasks/pushNotificationConfig/set',
  GetPushConfig: 'tasks/pushNotificationConfig/get',
  ListPushConfigs: 'tasks/pushNotificationConfig/list',
  DeletePushConfig: 'tasks/pushNotificationConfig/delete',
  GetExtendedCard: 'agent/getAuthenticatedExtendedCard',
}

const legacyRpcs: Readonly<Partial<Record<Operation, string>>> = {
  SendMessage: 'SendMessage',
  SendStreamingMessage: 'SendStreamingMessage',
  GetTask: 'GetTask',
  CancelTask: 'CancelTask',
  SubscribeToTask: 'TaskSubscription',
  CreatePushConfig: 'CreateTaskPushNotificationConfig',
  GetPushConfig: 'GetTaskPushNotificationConfig',
  ListPushConfigs: 'ListTaskPushNotificationConfig',
  DeletePushConfig: 'DeleteTaskPushNotificationConfig',
  GetExtendedCard: 'GetAgentCard',
}

type PayloadKind = 'send' | 'task' | 'list' | 'setPush' | 'pushKey' | 'listPush' | 'none'
type Form = Readonly<Record<PayloadKind, (params: Params) => Json>>

function payloadKind(operation: Operation): PayloadKind {
  switch (operation) {
    case 'SendMessage':
    case 'SendStreamingMessage':
      return 'send'
    case 'GetTask':
    case 'CancelTask':
    case 'SubscribeToTask':
      return 'task'
    case 'ListTasks':
      return 'list'
    case 'CreatePushConfig':
      return 'setPush'
    case 'GetPushConfig':
    case 'DeletePushConfig':
      return 'pushKey'
    case 'ListPushConfigs':
      return 'listPush'
    case 'GetExtendedCard':
      return 'none'
  }
}

const partsOf = ({ parts, text = '' }: Params): readonly PartSpec[] => parts ?? [{ text }]
const messageFields = (params: Params): Json => ({
  contextId: params.contextId,
  taskId: params.taskId,
  metadata: params.messageMetadata,
  extensions: params.extensions,
})
/** 0.x asks to wait, 1.0 asks not to. */
const blocking = ({ waits = true }: Params): boolean | undefined => waits ?? undefined

const newForm: Form = {
  send: (params) => ({
    message: {
      messageId: params.messageId,
      role: 'ROLE_USER',
      parts: partsOf(params),
      ...messageFields(params),
      referenceTaskIds: params.referenceTaskIds,
    },
    configuration: {
      returnImmediately: params.waits === false ? true : undefined,
      historyLength: params.historyLength,
      acceptedOutputModes: params.acceptedOutputModes,
      taskPushNotificationConfig: params.push && newPush(params.push),
    },
    metadata: params.metadata,
  }),
  task: ({ taskId, historyLength }) => ({ id: taskId, historyLength }),
  list: ({ contextId, status, pageSize, pageToken, historyLength, includeArtifacts }) => ({
    contextId,
    status,
    pageSize,
    pageToken,
    historyLength,
    includeArtifacts,
  }),
  setPush: ({ taskId, push }) => ({ taskId, ...(push && newPush(push)) }),
  pushKey: ({ taskId, pushConfigId }) => ({ taskId, id: pushConfigId }),
  listPush: ({ taskId, pageSize, pageToken }) => ({ taskId, pageSize, pageToken }),
  none: () => ({}),
}

const newPush = ({ id, url, token, scheme, credentials }: PushSpec): Json => ({
  id,
  url,
  token,
  authentication: scheme && { scheme, credentials },
})
const legacyPush = ({ id, url, token, scheme, credentials }: PushSpec): Json => ({
  id,
  url,
  token,
  authentication: scheme && { schemes: [scheme], credentials },
})

const legacyJson: Form = {
  send: (params) => ({
    message: {
      kind: 'message',
      messageId: params.messageId,
      role: 'user',
      parts: partsOf(params).map(legacyPart),
      ...messageFields(params),
      referenceTaskIds: params.referenceTaskIds,
    },
    configuration: {
      blocking: blocking(params),
      historyLength: params.historyLength,
      acceptedOutputModes: params.acceptedOutputModes,
      pushNotificationConfig: params.push && legacyPush(params.push),
    },
    metadata: params.metadata,
  }),
  task: ({ taskId, historyLength }) => ({ id: taskId, historyLength }),
  list: () => ({}),
  setPush: ({ taskId, push }) => ({ taskId, pushNotificationConfig: push && legacyPush(push) }),
  pushKey: ({ taskId, pushConfigId }) => ({ id: taskId, pushNotificationConfigId: pushConfigId }),
  listPush: ({ taskId }) => ({ id: taskId }),
  none: () => ({}),
}

function legacyPart({ text, raw, url, data, filename, mediaType, metadata }: PartSpec): Json {
  if (text !== undefined) return { kind: 'text', text, metadata }
  if (data !== undefined) return { kind: 'data', data, metadata }
  return { kind: 'file', file: { bytes: raw, uri: url, name: filename, mimeType: mediaType }, metadata }
}

const legacyProto: Form = {
  send: (params) => ({
    message: {
      messageId: params.messageId,
      role: 'ROLE_USER',
      content: partsOf(params).map(protoPart),
      ...messageFields(params),
    },
    configuration: {
      blocking: blocking(params),
      historyLength: params.historyLength,
      acceptedOutputModes: params.acceptedOutputModes,
      pushNotification: params.push && legacyPush(params.push),
    },
    metadata: params.metadata,
  }),
  task: ({ taskId, historyLength }) => ({ name: `tasks/${taskId}`, historyLength }),
  list: () => ({}),
  setPush: ({ taskId, push }) => ({
    parent: `tasks/${taskId}`,
    configId: push?.id,
    config: { pushNotificationConfig: push && legacyPush(push) },
  }),
  pushKey: ({ taskId, pushConfigId }) => ({ name: `tasks/${taskId}/pushNotificationConfigs/${pushConfigId}` }),
  listPush: ({ taskId, pageSize, pageToken }) => ({ parent: `tasks/${taskId}`, pageSize, pageToken }),
  none: () => ({}),
}

function protoPart({ text, raw, url, data, filename, mediaType, metadata }: PartSpec): Json {
  if (text !== undefined) return { text, metadata }
  if (data !== undefined) return { data: { data }, metadata }
  return { file: { fileWithBytes: raw, fileWithUri: url, name: filename, mimeType: mediaType }, metadata }
}

function newRoute(operation: Operation, params: Params, body: unknown): HttpSpelling {
  const { taskId, pushConfigId, pageSize, pageToken, historyLength, contextId, status, includeArtifacts } = params
  const configs = `/tasks/${taskId}/pushNotificationConfigs`
  switch (operation) {
    case 'SendMessage':
      return { verb: 'POST', path: '/message:send', body }
    case 'SendStreamingMessage':
      return { verb: 'POST', path: '/message:stream', body }
    case 'GetTask':
      return { verb: 'GET', path: `/tasks/${taskId}${query({ historyLength })}` }
    case 'ListTasks': {
      const filter = { contextId, status, pageSize, pageToken, historyLength, includeArtifacts }
      return { verb: 'GET', path: `/tasks${query(filter)}` }
    }
    case 'CancelTask':
      return { verb: 'POST', path: `/tasks/${taskId}:cancel`, body: {} }
    case 'SubscribeToTask':
      return { verb: 'POST', path: `/tasks/${taskId}:subscribe` }
    case 'CreatePushConfig':
      return { verb: 'POST', path: configs, body }
    case 'GetPushConfig':
      return { verb: 'GET', path: `${configs}/${pushConfigId}` }
    case 'ListPushConfigs':
      return { verb: 'GET', path: configs + query({ pageSize, pageToken }) }
    case 'DeletePushConfig':
      return { verb: 'DELETE', path: `${configs}/${pushConfigId}` }
    case 'GetExtendedCard':
      return { verb: 'GET', path: '/extendedAgentCard' }
  }
}

function legacyRoute(operation: Operation, params: Params, body: unknown): HttpSpelling | undefined {
  if (operation === 'ListTasks') return undefined
  if (operation === 'GetExtendedCard') return { verb: 'GET', path: '/v1/card' }
  const { verb, path, body: isWritten } = newRoute(operation, params, body)
  const name = operation === 'SubscribeToTask' ? 'GET' : verb
  return { verb: name, path: `/v1${path}`, ...(isWritten !== undefined ? { body: isWritten } : {}) }
}

function query(fields: Json): string {
  const pairs = Object.entries(fields).filter(([, value]) => value !== undefined)
  return pairs.length === 0
    ? ''
    : `?${new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)])).toString()}`
}

/** Without fields that are undefined, and without objects that are empty then. */
function clean(value: Json): Json {
  const text = JSON.stringify(value, (_key, inner: unknown) => {
    const isEmpty = (one: unknown): boolean =>
      typeof one === 'object' && one !== null && !Array.isArray(one) && Object.values(one).every((x) => x === undefined)
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner
    return Object.fromEntries(Object.entries(inner).filter(([key, one]) => key === 'data' || !isEmpty(one)))
  })
  return JSON.parse(text) as Json
}
