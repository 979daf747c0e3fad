/** The four operations on webhooks, and the webhook that a message asks for: checked, then done by the engine. */
import type { Call } from '../bindings/call.ts'
import type { HttpRequest } from '../bindings/http.ts'
import type { CallContext, PushDesk, PushManner } from '../engine/contract.ts'
import { A2AError, invalidParams } from '../model/error.ts'
import type { Operation, PushNotificationConfigKey, RequestOf, TaskPushNotificationConfig } from '../model/operation.ts'
import { traceIdOf } from '../model/trace.ts'
import type { PushRules } from './push.ts'

export type PushOperation = Extract<Operation, `${string}PushNotificationConfig${string}`>

export interface PushPerformance {
  readonly call: Call
  readonly desk: PushDesk
  readonly rules: PushRules
  contextOf(request: RequestOf<PushOperation>): CallContext
  decode<O extends Operation>(operation: O): RequestOf<O>
}

export async function performPush(operation: PushOperation, performance: PushPerformance): Promise<string> {
  const { call, desk, rules, contextOf, decode } = performance
  const { dialect, version } = call
  switch (operation) {
    case 'CreateTaskPushNotificationConfig': {
      const request = decode(operation)
      const context = contextOf(request)
      await checkConfig(rules, call, request, '')
      // Where setting is replacing, a config without a name is the one that the task has without a name (B-116).
      const isUnnamed = request.id === undefined || request.id === ''
      const named =
        isUnnamed && version.habits.unnamedPush === 'replace' ? { ...request, id: request.taskId ?? '' } : request
      return dialect.encodeResult(operation, await desk.create(named, context))
    }
    case 'GetTaskPushNotificationConfig': {
      const request = decode(operation)
      const context = contextOf(request)
      return dialect.encodeResult(operation, await desk.get(await meant(request, context, performance), context))
    }
    case 'ListTaskPushNotificationConfigs': {
      const request = decode(operation)
      return dialect.encodeResult(operation, await desk.list(request, contextOf(request)))
    }
    case 'DeleteTaskPushNotificationConfig': {
      const request = decode(operation)
      const context = contextOf(request)
      await desk.delete(await meant(request, context, performance), context)
      return dialect.encodeResult(operation, undefined)
    }
  }
}

/** Clients of 0.x ask for what has no name as `default`; a config that is called so goes first (B-116). */
async function meant(
  key: PushNotificationConfigKey,
  context: CallContext,
  { call, desk }: PushPerformance,
): Promise<PushNotificationConfigKey> {
  if (key.id !== 'default' || call.version.habits.unnamedPush !== 'replace') return key
  const { configs } = await desk.list({ taskId: key.taskId }, context)
  return configs.some(({ id }) => id === key.id) ? key : { ...key, id: key.taskId }
}

/** B-71: refused before any work is done for the message. */
export async function checkInline(
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

/** How the webhooks that this call asks for are told. */
export function mannerOf(rules: PushRules, { version, extensions }: Call, request: HttpRequest): PushManner {
  const traceparent = request.header('traceparent')
  const isTrace = traceIdOf(traceparent) !== undefined
  return {
    version: version.id,
    triggers: version.habits.pushes === 'task' ? 'significant' : rules.triggers,
    ...(extensions.length > 0 ? { extensions } : {}),
    ...(isTrace && traceparent !== undefined ? { traceparent } : {}),
  }
}

export function pushNotSupported(): A2AError {
  return new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED', 'Push notifications are not supported by this agent')
}
