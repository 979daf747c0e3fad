/**
 * Every operation in canonical terms, for the bindings and for calls inside the process. The engine does the work. This module
 * checks what only the server knows: the tenant, the constraints of the call, the skills of the caller and the allowed webhooks.
 */
import type { TaskEventStream } from '../../engine/contract.ts'
import { A2AError } from '../../model/error.ts'
import type { Operation, RequestOf, ResultOf, SendMessageRequest } from '../../model/operation.ts'
import type { Message } from '../../model/task.ts'
import { checkSkill } from '../admission/skill-permissions.ts'
import { extendedCard } from '../cards/extended-card.ts'
import { applyMessageHooks, callHooksFor, withoutHookMetadata } from '../extensions/apply-extensions.ts'
import type { CallConstraints, Extension } from '../extensions/extension.ts'
import { checkInlinePushConfig, pushOperations, pushSettingsOf } from '../push/push-operations.ts'
import type { RequestContext } from './request-context.ts'

/** The operations whose result is a stream of events. */
export type StreamingOperation = 'SendStreamingMessage' | 'SubscribeToTask'

/** The result of an operation in the process: a stream of events, or the canonical result. */
export type CallResult<O extends Operation> = O extends StreamingOperation ? TaskEventStream : ResultOf<O>

export type OperationTable = {
  readonly [O in Operation]: (context: RequestContext, request: RequestOf<O>) => Promise<CallResult<O>>
}

/** They may also throw at once: a function that only passes a promise on is not async, which would cost three more promises. */
export const operations: OperationTable = {
  async SendMessage(context, decoded) {
    const received = receiveMessage(context, decoded)
    const request = received instanceof Promise ? await received : received
    try {
      const sent = await context.server.engine.sendMessage(request, context)
      if ('task' in sent) context.taskId = sent.task.id
      return sent
    } catch (reason) {
      throw engineError(context, reason)
    }
  },
  async SendStreamingMessage(context, decoded) {
    const received = receiveMessage(context, decoded)
    const request = received instanceof Promise ? await received : received
    try {
      return await context.server.engine.streamMessage(request, context)
    } catch (reason) {
      throw engineError(context, reason)
    }
  },
  GetTask(context, request) {
    receiveRequest(context, request, request.id)
    return context.server.engine.getTask(request, context, context.version.behavior.showsTransitions)
  },
  ListTasks(context, request) {
    receiveRequest(context, request, undefined)
    return context.server.engine.listTasks(request, context)
  },
  CancelTask(context, request) {
    receiveRequest(context, request, request.id)
    return context.server.engine.cancelTask(request, context, context.version.behavior.cancelAgain)
  },
  SubscribeToTask(context, request) {
    receiveRequest(context, request, request.id)
    return context.server.engine.subscribe(request, context, context.version.behavior.subscribeToFinished)
  },
  async GetExtendedAgentCard(context, { tenant }) {
    const { server, request, registeredAgent, caller } = context
    if (registeredAgent.entry.isDraining === true) throw server.agentNotFound(registeredAgent, caller)
    server.tenants.resolve(tenant, caller)
    const card = await extendedCard(registeredAgent, server.card(request, registeredAgent), caller)
    return server.sign(card, request)
  },
  ...pushOperations,
}

/** Resolves the tenant and notes the task that the request names. */
function receiveRequest(context: RequestContext, { tenant }: { readonly tenant?: string }, taskId?: string): void {
  context.taskId = taskId
  context.tenant = context.server.tenants.resolve(tenant, context.caller)
}

/** Checks a message and applies the extensions to it. A promise only if one of them needs it. */
function receiveMessage(
  context: RequestContext,
  decoded: SendMessageRequest,
): SendMessageRequest | Promise<SendMessageRequest> {
  receiveRequest(context, decoded, decoded.message.taskId)
  const isPlain = context.extensions.length === 0 && context.constrain === undefined
  if (!isPlain || decoded.configuration?.taskPushNotificationConfig !== undefined)
    return receiveExtendedMessage(context, decoded)
  const permitted = checkSkill(decoded, context.registeredAgent, context.caller)
  return permitted === undefined ? decoded : permitted.then(() => decoded)
}

async function receiveExtendedMessage(
  context: RequestContext,
  decoded: SendMessageRequest,
): Promise<SendMessageRequest> {
  const { registeredAgent } = context
  const inline = decoded.configuration?.taskPushNotificationConfig
  if (inline !== undefined) {
    context.push = pushSettingsOf(context)
    await checkInlinePushConfig(context, inline)
  }
  if (context.constrain !== undefined) narrowCall(context, await context.constrain())
  const hooks = callHooksFor(decoded.message, context, registeredAgent)
  const request =
    hooks.length === 0 ? decoded : { ...decoded, message: await applyCallHooks(context, decoded.message, hooks) }
  const permitted = checkSkill(request, registeredAgent, context.caller)
  if (permitted !== undefined) await permitted
  const hooked = applyMessageHooks(request.message, context, registeredAgent)
  if (hooked === undefined) return request
  const message = await hooked
  if (message !== request.message) context.receivedMessage = request.message
  return { ...request, message }
}

/** Narrows the call by what extensions decide. Returns the message without the metadata that are for the server alone. */
async function applyCallHooks(context: RequestContext, given: Message, hooks: readonly Extension[]): Promise<Message> {
  const message = withoutHookMetadata(given, hooks)
  for (const { uri, onCall } of hooks) {
    const said = given.metadata?.[uri]
    if (said !== undefined) narrowCall(context, (await onCall?.(said, message, context)) ?? {})
  }
  return message
}

/** Constraints can only narrow: a caller never gets a scope or a skill that it did not have, nor a later deadline. */
function narrowCall(context: RequestContext, constraints: CallConstraints): void {
  const { deadlineAt, provenance, scopes, skills, singleUse } = constraints
  if (deadlineAt !== undefined) context.deadlineAt = Math.min(deadlineAt, context.deadlineAt ?? Infinity)
  if (provenance !== undefined) context.provenance = provenance
  if (singleUse !== undefined) context.singleUse = singleUse
  const { caller, server } = context
  // A caller without a list of scopes has none; a caller without a list of skills may use all.
  if (scopes !== undefined && caller.scopes !== undefined)
    context.caller = { ...context.caller, scopes: server.intersectScopes(caller.scopes, scopes) }
  if (skills !== undefined)
    context.caller = { ...context.caller, skills: skills.filter((id) => caller.skills?.includes(id) ?? true) }
}

/** The engine names invalid fields as in the model; this renames them as the caller spells them. */
function engineError({ server, registeredAgent, caller, dialect }: RequestContext, reason: unknown): unknown {
  if (!(reason instanceof A2AError)) return reason
  const isGone = registeredAgent.entry.isDraining === true && reason.code === 'AGENT_UNAVAILABLE'
  if (isGone) return server.agentNotFound(registeredAgent, caller)
  if (reason.details.violations === undefined) return reason
  let { message } = reason
  const violations = reason.details.violations.map((one) => {
    const field = dialect.spell(one.field)
    message = message.replaceAll(one.field, field)
    return { ...one, field }
  })
  return new A2AError(reason.code, message, { ...reason.details, violations }, { cause: reason.cause })
}
