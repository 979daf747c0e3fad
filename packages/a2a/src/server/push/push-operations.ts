/**
 * The four operations on push notification configs, and the inline config of a message: validated here, performed by the engine.
 */
import type { PushConfigService, PushDeliveryOptions } from '../../engine/contract.ts'
import { A2AError, invalidParams } from '../../model/error.ts'
import type {
  Operation,
  PushNotificationConfigKey,
  RequestOf,
  ResultOf,
  TaskPushNotificationConfig,
} from '../../model/operation.ts'
import type { RequestContext } from '../calls/request-context.ts'

type PushOperation = Extract<Operation, `${string}PushNotificationConfig${string}`>

export const pushOperations: {
  readonly [O in PushOperation]: (context: RequestContext, request: RequestOf<O>) => Promise<ResultOf<O>>
} = {
  async CreateTaskPushNotificationConfig(context, request) {
    const push = openPush(context, request)
    await checkConfig(context, request, '')
    // In versions where setting replaces, a config without an id replaces the task's config without an id (B-116).
    const isUnnamed = request.id === undefined || request.id === ''
    const replaces = isUnnamed && context.version.behavior.pushWithoutId === 'replace'
    return push.create(replaces ? { ...request, id: request.taskId ?? '' } : request, context)
  },
  async GetTaskPushNotificationConfig(context, request) {
    const push = openPush(context, request)
    return push.get(await resolveConfigKey(request, context, push), context)
  },
  async ListTaskPushNotificationConfigs(context, request) {
    return openPush(context, request).list(request, context)
  },
  async DeleteTaskPushNotificationConfig(context, request) {
    const push = openPush(context, request)
    await push.delete(await resolveConfigKey(request, context, push), context)
  },
}

function openPush(context: RequestContext, { tenant, taskId }: RequestOf<PushOperation>): PushConfigService {
  const push = requirePush(context)
  context.taskId = taskId
  context.tenant = context.server.tenants.resolve(tenant, context.caller)
  context.push = pushSettingsOf(context)
  return push
}

/** Throws PUSH_NOTIFICATION_NOT_SUPPORTED if push notifications are not configured. */
export function requirePush({ server }: RequestContext): PushConfigService {
  if (server.push === undefined || server.engine.push === undefined) throw pushNotSupported()
  return server.engine.push
}

/** Clients of 0.x name the config without an id `default`; a config with that id takes precedence (B-116). */
async function resolveConfigKey(
  key: PushNotificationConfigKey,
  context: RequestContext,
  push: PushConfigService,
): Promise<PushNotificationConfigKey> {
  if (key.id !== 'default' || context.version.behavior.pushWithoutId !== 'replace') return key
  const { configs } = await push.list({ taskId: key.taskId }, context)
  return configs.some(({ id }) => id === key.id) ? key : { ...key, id: key.taskId }
}

/** B-71: refused before any work is done for the message. */
export async function checkInlinePushConfig(
  context: RequestContext,
  config: TaskPushNotificationConfig,
): Promise<void> {
  await checkConfig(context, config, 'configuration.taskPushNotificationConfig.')
}

async function checkConfig(
  { server, dialect }: RequestContext,
  config: TaskPushNotificationConfig,
  at: string,
): Promise<void> {
  if (server.push === undefined) throw pushNotSupported()
  const violations = await server.push.check(config, at)
  if (violations.length === 0) return
  throw invalidParams(violations.map((one) => ({ ...one, field: dialect.spell(one.field) })))
}

/** How notifications of configs from this call are delivered; `undefined` without push notifications. */
export function pushSettingsOf({
  server,
  version,
  extensions,
  traceparent,
}: RequestContext): PushDeliveryOptions | undefined {
  if (server.push === undefined) return undefined
  return {
    version: version.id,
    triggers: version.behavior.pushPayload === 'task' ? 'significant' : server.push.triggers,
    ...(extensions.length > 0 ? { extensions } : {}),
    ...(traceparent !== undefined ? { traceparent } : {}),
  }
}

function pushNotSupported(): A2AError {
  return new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED', 'Push notifications are not supported by this agent')
}
