/** Push configs of 0.x: nested where 1.0 is flat, with a list of schemes where 1.0 has one (§1.7, §1.8). */
import type {
  AuthenticationInfo,
  ListTaskPushNotificationConfigsResponse,
  PushNotificationConfigKey,
  TaskPushNotificationConfig,
} from '../../model/operation.ts'
import { complain, list, name, text, then, word, words } from '../read.ts'
import type { Read } from '../read.ts'
import { named, required, shape } from '../shape.ts'
import { carry } from '../write.ts'
import type { Form } from './form.ts'

type Config = Omit<TaskPushNotificationConfig, 'taskId' | 'tenant'>

/** The first scheme counts. None at all means no authentication. */
const authentication: Read<AuthenticationInfo> = then(
  shape<{ schemes?: readonly string[]; scheme?: string; credentials?: string }>({
    schemes: words,
    scheme: word,
    credentials: word,
  }),
  ({ schemes, scheme = schemes?.[0], credentials }) => {
    if (scheme === undefined || scheme === '') return undefined
    return credentials === undefined ? { scheme } : { scheme, credentials }
  },
)

const configFields = { id: word, token: word, authentication }
/** The inner object, which a send may carry too. */
export const pushConfig: Read<Config> = shape<Config>({ ...configFields, url: required(name) })

/** `tasks/{id}` and `tasks/{id}/pushNotificationConfigs/{configId}` are how the proto names things. */
function resource(given: string): { taskId: string; configId?: string } {
  const [collection, taskId, , configId] = given.split('/')
  if (collection !== 'tasks' || taskId === undefined || taskId === '') return { taskId: given }
  return configId === undefined || configId === '' ? { taskId } : { taskId, configId }
}

/** A task by its id or its resource name. */
export const taskId: Read<string> = then(name, (given) => resource(given).taskId)

interface Given extends Partial<Config> {
  taskId?: string
  configId?: string
  name?: string
  pushNotificationConfig?: Config
  config?: Given
}

const nestedFields = { ...configFields, url: word, name: word, pushNotificationConfig: pushConfig }

/** Nested, nested once more under `config` (the proto's request), or flat (prose of REST): all are in use. */
export function taskPushConfigReader(form: Form): Read<TaskPushNotificationConfig> {
  return then(
    shape<Given>({
      ...nestedFields,
      taskId: named(taskId, 'taskId', 'parent'),
      configId: word,
      config: shape<Given>({ ...nestedFields, taskId: word, configId: word, config: () => undefined }),
    }),
    (given, reader) => {
      if (reader.violations.length > 0) return undefined
      const place = resource(given.name ?? given.config?.name ?? '')
      const task = given.taskId ?? place.taskId
      if (task === '') complain(reader, 'is required', form === 'json' ? 'taskId' : 'parent')
      const found = given.pushNotificationConfig ?? given.config?.pushNotificationConfig ?? flat(given.config ?? given)
      if (found === undefined) {
        const above = form === 'json' ? [] : ['config']
        return complain(reader, 'is required', ...above, 'pushNotificationConfig')
      }
      const id = found.id ?? given.configId ?? place.configId
      return { taskId: task, ...(id !== undefined && { id }), ...found }
    },
  )
}

function flat(given: Given): Config | undefined {
  if (given.url === undefined) return undefined
  return carry({ url: given.url }, given, 'id', 'token', 'authentication') as unknown as Config
}

export function pushKey(form: Form, idRequired: boolean): Read<PushNotificationConfigKey> {
  return then(
    shape<{ taskId?: string; name?: string; configId?: string }>({
      taskId: named(taskId, 'id', 'taskId', 'parent'),
      name: word,
      configId: named(word, 'pushNotificationConfigId', 'configId'),
    }),
    (given, reader) => {
      const place = resource(given.name ?? '')
      const taskId = given.taskId ?? place.taskId
      const id = given.configId ?? place.configId
      if (taskId === '') return complain(reader, 'is required', form === 'json' ? 'id' : 'name')
      if (id === undefined)
        return idRequired
          ? complain(reader, 'is required', form === 'json' ? 'pushNotificationConfigId' : 'name')
          : { taskId }
      return { taskId, id }
    },
  )
}

/** JSON-RPC answers a bare array, REST an object around it. */
export function pushConfigsReader(form: Form): Read<ListTaskPushNotificationConfigsResponse> {
  const page = shape<ListTaskPushNotificationConfigsResponse>({
    configs: required(list(taskPushConfigReader(form)), { fallback: [] }),
    nextPageToken: required(text, { fallback: '' }),
  })
  return (reader, value) => page(reader, Array.isArray(value) ? { configs: value as unknown[] } : value)
}

export function writePushConfig(config: TaskPushNotificationConfig): Record<string, unknown> {
  const out = carry({}, config, 'id', 'url', 'token')
  if (config.authentication !== undefined) {
    const { scheme } = config.authentication
    out['authentication'] = carry({ schemes: [scheme] }, config.authentication, 'credentials')
  }
  return out
}

export function writeTaskPushConfig(config: TaskPushNotificationConfig, form: Form): Record<string, unknown> {
  const pushNotificationConfig = writePushConfig(config)
  if (form === 'json')
    return carry({}, { taskId: config.taskId, pushNotificationConfig }, 'taskId', 'pushNotificationConfig')
  const parent = `tasks/${config.taskId ?? ''}`
  return {
    name: config.id === undefined ? parent : `${parent}/pushNotificationConfigs/${config.id}`,
    pushNotificationConfig,
  }
}
