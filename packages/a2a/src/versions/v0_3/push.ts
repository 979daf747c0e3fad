/** Push configs of 0.x: nested where 1.0 is flat, with a list of schemes where 1.0 has one (§1.7, §1.8). */
import type {
  AuthenticationInfo,
  ListTaskPushNotificationConfigsResponse,
  PushNotificationConfigKey,
  TaskPushNotificationConfig,
} from '../../model/operation.ts'
import { addViolation, list, nonEmptyText, text, mapRead, optionalText, textList, type FieldReader } from '../read.ts'
import { named, required, shape, copyFields } from '../shape.ts'
import type { LegacyForm } from './form.ts'

type PushConfigFields = Omit<TaskPushNotificationConfig, 'taskId' | 'tenant'>

/** The first scheme counts. An empty list means no authentication. */
const authentication: FieldReader<AuthenticationInfo> = mapRead(
  shape<{ schemes?: readonly string[]; scheme?: string; credentials?: string }>({
    schemes: textList,
    scheme: optionalText,
    credentials: optionalText,
  }),
  ({ schemes, scheme = schemes?.[0], credentials }) => {
    if (scheme === undefined || scheme === '') return undefined
    return credentials === undefined ? { scheme } : { scheme, credentials }
  },
)

const configFields = { id: optionalText, token: optionalText, authentication }
/** The inner object, which a send may carry too. */
export const legacyPushConfig: FieldReader<PushConfigFields> = shape<PushConfigFields>({
  ...configFields,
  url: required(nonEmptyText),
})

/** `tasks/{id}` and `tasks/{id}/pushNotificationConfigs/{configId}` are the resource names of the proto. */
function resource(given: string): { taskId: string; configId?: string } {
  const [collection, taskId, , configId] = given.split('/')
  if (collection !== 'tasks' || taskId === undefined || taskId === '') return { taskId: given }
  return configId === undefined || configId === '' ? { taskId } : { taskId, configId }
}

/** A task by its id or its resource name. */
export const taskId: FieldReader<string> = mapRead(nonEmptyText, (given) => resource(given).taskId)

interface LegacyPushConfig extends Partial<PushConfigFields> {
  taskId?: string
  configId?: string
  name?: string
  pushNotificationConfig?: PushConfigFields
  config?: LegacyPushConfig
}

const nestedFields = {
  ...configFields,
  url: optionalText,
  name: optionalText,
  pushNotificationConfig: legacyPushConfig,
}

/** Nested, nested once more under `config` (the proto's request), or flat (prose of REST): peers use all three. */
export function taskPushConfigReader(form: LegacyForm): FieldReader<TaskPushNotificationConfig> {
  return mapRead(
    shape<LegacyPushConfig>({
      ...nestedFields,
      taskId: named(taskId, 'taskId', 'parent'),
      configId: optionalText,
      config: shape<LegacyPushConfig>({
        ...nestedFields,
        taskId: optionalText,
        configId: optionalText,
        config: () => undefined,
      }),
    }),
    (given, reader) => {
      if (reader.violations.length > 0) return undefined
      const place = resource(given.name ?? given.config?.name ?? '')
      const task = given.taskId ?? place.taskId
      if (task === '') addViolation(reader, 'is required', form === 'json' ? 'taskId' : 'parent')
      const found = given.pushNotificationConfig ?? given.config?.pushNotificationConfig ?? flat(given.config ?? given)
      if (found === undefined) {
        const above = form === 'json' ? [] : ['config']
        return addViolation(reader, 'is required', ...above, 'pushNotificationConfig')
      }
      const id = found.id ?? given.configId ?? place.configId
      return { taskId: task, ...(id !== undefined && { id }), ...found }
    },
  )
}

function flat(given: LegacyPushConfig): PushConfigFields | undefined {
  if (given.url === undefined) return undefined
  return copyFields({ url: given.url }, given, 'id', 'token', 'authentication') as unknown as PushConfigFields
}

export function pushKey(form: LegacyForm, idRequired: boolean): FieldReader<PushNotificationConfigKey> {
  return mapRead(
    shape<{ taskId?: string; name?: string; configId?: string }>({
      taskId: named(taskId, 'id', 'taskId', 'parent'),
      name: optionalText,
      configId: named(optionalText, 'pushNotificationConfigId', 'configId'),
    }),
    (given, reader) => {
      const place = resource(given.name ?? '')
      const taskId = given.taskId ?? place.taskId
      const id = given.configId ?? place.configId
      if (taskId === '') return addViolation(reader, 'is required', form === 'json' ? 'id' : 'name')
      if (id === undefined)
        return idRequired
          ? addViolation(reader, 'is required', form === 'json' ? 'pushNotificationConfigId' : 'name')
          : { taskId }
      return { taskId, id }
    },
  )
}

/** JSON-RPC returns a bare array, REST an object around it. */
export function pushConfigsReader(form: LegacyForm): FieldReader<ListTaskPushNotificationConfigsResponse> {
  const page = shape<ListTaskPushNotificationConfigsResponse>({
    configs: required(list(taskPushConfigReader(form)), { fallback: [] }),
    nextPageToken: required(text, { fallback: '' }),
  })
  return (reader, value) => page(reader, Array.isArray(value) ? { configs: value as unknown[] } : value)
}

export function writePushConfig(config: TaskPushNotificationConfig): Record<string, unknown> {
  const out = copyFields({}, config, 'id', 'url', 'token')
  if (config.authentication !== undefined) {
    const { scheme } = config.authentication
    out['authentication'] = copyFields({ schemes: [scheme] }, config.authentication, 'credentials')
  }
  return out
}

export function writeTaskPushConfig(config: TaskPushNotificationConfig, form: LegacyForm): Record<string, unknown> {
  const pushNotificationConfig = writePushConfig(config)
  if (form === 'json')
    return copyFields({}, { taskId: config.taskId, pushNotificationConfig }, 'taskId', 'pushNotificationConfig')
  const parent = `tasks/${config.taskId ?? ''}`
  return {
    name: config.id === undefined ? parent : `${parent}/pushNotificationConfigs/${config.id}`,
    pushNotificationConfig,
  }
}
