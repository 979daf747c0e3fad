/** Requests in the JSON of 1.0, rewritten for the dialects of 0.2 and 0.3. What it does not know it leaves as it is. */
import type { BindingName } from '../verdict.ts'
import type { Dialect, JsonObject, OperationName } from './spelling.ts'

export function encodeRequest(
  dialect: Dialect,
  binding: BindingName,
  operation: OperationName,
  payload: JsonObject,
): JsonObject {
  if (dialect === '1.0') return payload
  switch (operation) {
    case 'SendMessage':
    case 'SendStreamingMessage':
      return encodeSend(dialect, payload)
    case 'CreateTaskPushNotificationConfig': {
      const { taskId, tenant: _tenant, ...config } = payload
      const pushNotificationConfig = encodePushConfig(config)
      if (dialect === '0.x json') return { taskId, pushNotificationConfig }
      const parent = `tasks/${String(taskId)}`
      const configId = typeof config['id'] === 'string' ? config['id'] : ''
      return {
        taskId,
        parent,
        configId,
        config: { name: `${parent}/pushNotificationConfigs/${configId}`, pushNotificationConfig },
      }
    }
    case 'GetTaskPushNotificationConfig':
    case 'DeleteTaskPushNotificationConfig': {
      const { taskId, id } = payload
      if (dialect === '0.x json') return { id: taskId, pushNotificationConfigId: id }
      return {
        taskId,
        id,
        ...named(binding, { name: `tasks/${String(taskId)}/pushNotificationConfigs/${String(id)}` }),
      }
    }
    case 'ListTaskPushNotificationConfigs': {
      const { taskId } = payload
      return dialect === '0.x json'
        ? { id: taskId }
        : { taskId, ...named(binding, { parent: `tasks/${String(taskId)}` }) }
    }
    case 'GetTask':
    case 'CancelTask':
    case 'SubscribeToTask':
      return dialect === '0.x json'
        ? payload
        : { ...payload, ...named(binding, { name: `tasks/${String(payload['id'])}` }) }
    case 'ListTasks':
    case 'GetExtendedAgentCard':
      return payload
  }
}

/** Only gRPC carries resource names in the message: REST has them in the path. */
const named = (binding: BindingName, fields: JsonObject): JsonObject => (binding === 'GRPC' ? fields : {})

function encodeSend(dialect: Dialect, { message, configuration, tenant: _tenant, ...others }: JsonObject): JsonObject {
  return {
    ...others,
    ...(message === undefined ? {} : { message: isObject(message) ? encodeMessage(dialect, message) : message }),
    ...(configuration === undefined
      ? {}
      : { configuration: isObject(configuration) ? encodeConfiguration(dialect, configuration) : configuration }),
  }
}

const legacyRoles: JsonObject = { ROLE_USER: 'user', ROLE_AGENT: 'agent' }

function encodeMessage(dialect: Dialect, { role, parts, ...others }: JsonObject): JsonObject {
  const encoded = Array.isArray(parts)
    ? parts.map((part: unknown) => (isObject(part) ? encodePart(dialect, part) : part))
    : parts
  if (dialect === '0.3 proto') return { ...others, ...given('role', role), ...given('content', encoded) }
  const spelled = typeof role === 'string' ? (legacyRoles[role] ?? role) : role
  return { kind: 'message', ...others, ...given('role', spelled), ...given('parts', encoded) }
}

const given = (name: string, value: unknown): JsonObject => (value === undefined ? {} : { [name]: value })

function encodePart(dialect: Dialect, part: JsonObject): JsonObject {
  const { text, raw, url, data, filename, mediaType, ...others } = part
  const isJson = dialect === '0.x json'
  const kind = (name: string): JsonObject => (isJson ? { kind: name } : {})
  if ('text' in part) return { ...kind('text'), text, ...others }
  if ('raw' in part || 'url' in part) {
    const content = isJson
      ? { ...given('bytes', raw), ...given('uri', url) }
      : { ...given('fileWithBytes', raw), ...given('fileWithUri', url) }
    return {
      ...kind('file'),
      file: { ...content, ...given('name', filename), ...given('mimeType', mediaType) },
      ...others,
    }
  }
  if ('data' in part) return { ...kind('data'), data: isJson ? data : { data }, ...others }
  return part
}

function encodeConfiguration(dialect: Dialect, configuration: JsonObject): JsonObject {
  const { returnImmediately, taskPushNotificationConfig, ...others } = configuration
  const push = isObject(taskPushNotificationConfig)
    ? encodePushConfig(taskPushNotificationConfig)
    : taskPushNotificationConfig
  return {
    ...others,
    ...(returnImmediately === undefined
      ? {}
      : { blocking: typeof returnImmediately === 'boolean' ? !returnImmediately : returnImmediately }),
    ...given(dialect === '0.x json' ? 'pushNotificationConfig' : 'pushNotification', push),
    // Required up to 0.2.5.
    acceptedOutputModes: configuration['acceptedOutputModes'] ?? [],
  }
}

function encodePushConfig({ authentication, taskId: _taskId, tenant: _tenant, ...others }: JsonObject): JsonObject {
  if (!isObject(authentication)) return { ...others, ...given('authentication', authentication) }
  const { scheme, ...rest } = authentication
  return { ...others, authentication: { ...given('schemes', scheme === undefined ? undefined : [scheme]), ...rest } }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
