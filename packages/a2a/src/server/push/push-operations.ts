/**
 * The four operations on push notification configs, and the inline config of a message: validated here, performed by the engine.
 */
import type { Call } from '../../bindings/call.ts'
import type { HttpRequest } from '../../bindings/http.ts'
import type { CallContext, PushConfigService, PushDeliveryOptions } from '../../engine/contract.ts'
import { A2AError, invalidParams } from '../../model/error.ts'
import type {
  Operation,
  PushNotificationConfigKey,
  RequestOf,
  TaskPushNotificationConfig,
} from '../../model/operation.ts'
import { traceIdOf } from '../../model/trace.ts'
import type { PushRules } from './push-setup.ts'

export type PushOperation = Extract<Operation, `${string}PushNotificationConfig${string}`>

export interface PushOperationInput {
  readonly call: Call
  readonly push: PushConfigService
  readonly rules: PushRules
  contextOf(request: RequestOf<PushOperation>): CallContext
  decode<O extends Operation>(operation: O): RequestOf<O>
}

export async function performPushOperation(operation: PushOperation, performance: PushOperationInput): Promise<string> {
  const { call, push, rules, contextOf, decode } = performance
  const { dialect, version } = call
  switch (operation) {
    case 'CreateTaskPushNotificationConfig': {
      const request = decode(operation)
      const context = contextOf(request)
      await checkConfig(rules, call, request, '')
      // In versions where setting replaces, a config without an id replaces the task's config without an id (B-116).
      const isUnnamed = request.id === undefined || request.id === ''
      const named =
        isUnnamed && version.behavior.pushWithoutId === 'replace' ? { ...request, id: request.taskId ?? '' } : request
      return dialect.encodeResult(operation, await push.create(named, context))
    }
    case 'GetTaskPushNotificationConfig': {
      const request = decode(operation)
      const context = contextOf(request)
      return dialect.encodeResult(
        operation,
        await push.get(await resolveConfigKey(request, context, performance), context),
      )
    }
    case 'ListTaskPushNotificationConfigs': {
      const request = decode(operation)
      return dialect.encodeResult(operation, await push.list(request, contextOf(request)))
    }
    case 'DeleteTaskPushNotificationConfig': {
      const request = decode(operation)
      const context = contextOf(request)
      await push.delete(await resolveConfigKey(request, context, performance), context)
      return dialect.encodeResult(operation, undefined)
    }
  }
}

/** Clients of 0.x name the config without an id `default`; a config with that id takes precedence (B-116). */
async function resolveConfigKey(
  key: PushNotificationConfigKey,
  context: CallContext,
  { call, push }: PushOperationInput,
): Promise<PushNotificationConfigKey> {
  if (key.id !== 'default' || call.version.behavior.pushWithoutId !== 'replace') return key
  const { configs } = await push.list({ taskId: key.taskId }, context)
  return configs.some(({ id }) => id === key.id) ? key : { ...key, id: key.taskId }
}

/** B-71: refused before any work is done for the message. */
export async function checkInlinePushConfig(
  rules: PushRules | undefined,
  call: Call,
  config: TaskPushNotificationConfig,
): Promise<void> {
  if (rules === undefined) throw pushNotSupported()
  await checkConfig(rules, call, config, 'configuration.taskPushNotificationConfig.')
}

async function checkConfig(
  rules: PushRules,
  { dialect }: Call,
  config: TaskPushNotificationConfig,
  at: string,
): Promise<void> {
  const violations = await rules.check(config, at)
  if (violations.length === 0) return
  throw invalidParams(violations.map((one) => ({ ...one, field: dialect.spell(one.field) })))
}

/** How notifications of configs from this call are delivered. */
export function pushSettingsOf(
  rules: PushRules,
  { version, extensions }: Call,
  request: HttpRequest,
): PushDeliveryOptions {
  const traceparent = request.header('traceparent')
  const isTrace = traceIdOf(traceparent) !== undefined
  return {
    version: version.id,
    triggers: version.behavior.pushPayload === 'task' ? 'significant' : rules.triggers,
    ...(extensions.length > 0 ? { extensions } : {}),
    ...(isTrace && traceparent !== undefined ? { traceparent } : {}),
  }
}

export function pushNotSupported(): A2AError {
  return new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED', 'Push notifications are not supported by this agent')
}
