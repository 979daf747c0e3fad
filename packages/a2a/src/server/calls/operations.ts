/**
 * Every operation in canonical terms, for the bindings and for calls inside the process. The engine does the work. This module
 * checks what only the server knows: the tenant, the constraints of the call, the skills of the caller and the allowed webhooks.
 */
import { findParameter, type HttpRequest, readCursor } from '../../bindings/http.ts'
import type { CallContext, PushConfigService, PushDeliveryOptions, TaskEventStream } from '../../engine/contract.ts'
import type { Caller } from '../../model/caller.ts'
import { A2AError, invalidParams } from '../../model/error.ts'
import type { NextStep } from '../../model/heavy-step.ts'
import type {
  Operation,
  PushNotificationConfigKey,
  RequestOf,
  ResultOf,
  SendMessageRequest,
  TaskPushNotificationConfig,
} from '../../model/operation.ts'
import type { Message, Struct } from '../../model/task.ts'
import { readTracestate, traceIdOf } from '../../model/trace.ts'
import type { Dialect } from '../../versions/version.ts'
import { checkSkill, extendedCard } from '../admission/permissions.ts'
import {
  activeExtensions,
  applyMessageHooks,
  callHooksFor,
  requestedExtensions,
  withoutHookMetadata,
} from '../extensions/apply-extensions.ts'
import type { CallConstraints, Extension } from '../extensions/extension.ts'
import type { LargeReader } from '../streaming/response-memory.ts'
import type { ReaderAccount } from '../streaming/reader-limits.ts'
import type { AuthenticatedServerCall } from './call.ts'
import type { CallVariant } from './endpoint-variant.ts'

/** The operations whose result is a stream of events. */
export type StreamingOperation = 'SendStreamingMessage' | 'SubscribeToTask'

export function isStreaming(operation: Operation | undefined): operation is StreamingOperation {
  return operation === 'SendStreamingMessage' || operation === 'SubscribeToTask'
}

/** What an admitted call asks for, beside the request itself. */
export interface OperationDetails {
  readonly operation: Operation
  /** The payload dialect; each version has two. */
  readonly dialect: Dialect
  /** The URIs of the active extensions. */
  readonly extensions: readonly string[]
  readonly lastEventId?: number | undefined
  readonly keepOpenOnInputRequired?: boolean | undefined
  readonly traceparent?: string | undefined
  readonly tracestate?: string | undefined
  /** Limits beyond those of extensions; for calls inside the process. */
  readonly constrain?: (() => CallConstraints | Promise<CallConstraints>) | undefined
  /** Whether the binding copies a response for each reader, so that bytes held by other readers count again. Default false. */
  readonly isCopied?: boolean
}

/**
 * An admitted call as the operations and the engine see it: made from the request and never from its payload. Extensions may narrow
 * it. A class for its getters: an object literal creates them again for each call.
 */
export class OperationContext implements CallContext {
  readonly call: AuthenticatedServerCall
  readonly agent: string
  readonly dialect: Dialect
  readonly extensions: readonly string[]
  readonly streamed: true | undefined
  readonly lastEventId: number | undefined
  readonly keepOpenOnInputRequired: boolean | undefined
  readonly traceparent: string | undefined
  readonly tracestate: string | undefined
  readonly constrain: OperationDetails['constrain']
  readonly isCopied: boolean
  /** The caller with its permissions in this call, which constraints may narrow. */
  caller: Caller
  tenant = ''
  receivedMessage: Message | undefined = undefined
  deadlineAt: number | undefined = undefined
  provenance: Struct | undefined = undefined
  singleUse: CallContext['singleUse'] = undefined
  push: PushDeliveryOptions | undefined = undefined
  /** Counts what the call reads, if its caller in the process does. */
  reader: LargeReader | undefined = undefined
  #account: ReaderAccount | undefined = undefined

  constructor(call: AuthenticatedServerCall, details: OperationDetails) {
    this.call = call
    this.agent = call.agent
    this.caller = call.caller
    this.dialect = details.dialect
    this.extensions = details.extensions
    this.streamed = details.operation === 'SendStreamingMessage' ? true : undefined
    this.lastEventId = details.lastEventId
    this.keepOpenOnInputRequired = details.keepOpenOnInputRequired
    this.constrain = details.constrain
    this.isCopied = details.isCopied ?? false
    const isTraced = details.traceparent !== undefined && traceIdOf(details.traceparent) !== undefined
    this.traceparent = isTraced ? details.traceparent : undefined
    this.tracestate = isTraced ? readTracestate(details.tracestate) : undefined
  }

  /** Created on first access: most calls are answered before a client could disconnect. */
  get signal(): AbortSignal {
    return this.call.request.signal
  }

  get canListTasks(): boolean {
    const { caller, call } = this
    return caller.anonymous !== true || call.server.canListAnonymously(call.request)
  }

  /** What this call holds in memory. Opened on first use: nearly no call holds anything that is counted. */
  get account(): ReaderAccount {
    return (this.#account ??= this.call.server.unsentBytes.open(this.call.callerKey))
  }

  /** The account now belongs to the result of the call. */
  takeAccount(): ReaderAccount {
    const { account } = this
    this.#account = undefined
    return account
  }

  /** Releases what the call holds, unless its result has the account. */
  closeAccount(): void {
    this.#account?.close()
    this.#account = undefined
  }

  /** Reserves the memory of one large task; the one before it is no longer needed. */
  admitRead(bytes: number): Promise<NextStep> {
    return this.reader?.admitRead(bytes) ?? this.account.admitRead(bytes, this.signal)
  }

  releaseRead(): void {
    this.#account?.setOwnBytes(0)
  }
}

/** The context of a request: its extensions, its cursor and its trace, with the defaults of the endpoint variant of its path. */
export function contextOfRequest(
  call: AuthenticatedServerCall,
  operation: Operation,
  dialect: Dialect,
  { variant, isCopied = false }: { readonly variant?: CallVariant | undefined; readonly isCopied?: boolean } = {},
): OperationContext {
  const { request } = call
  const requested = requestedExtensions(request, call.protocolVersion)
  return new OperationContext(call, {
    operation,
    dialect,
    extensions: activeExtensions(
      requested.length > 0 ? requested : (variant?.extensions ?? requested),
      call.registeredAgent,
    ),
    lastEventId: isStreaming(operation) ? cursorOf(request) : undefined,
    keepOpenOnInputRequired: variant?.keepOpenOnInputRequired,
    isCopied,
    traceparent: request.header('traceparent'),
    tracestate: request.header('tracestate'),
  })
}

/** Browsers cannot set the header on a first connection, so the query may carry it too. */
function cursorOf(request: HttpRequest): number | undefined {
  return readCursor(request.header('last-event-id')) ?? readCursor(findParameter(request.query, 'lasteventid'))
}

/** The result of an operation in the process: a stream of events, or the canonical result. */
export type CallResult<O extends Operation> = O extends StreamingOperation ? TaskEventStream : ResultOf<O>

export type OperationTable = {
  readonly [O in Operation]: (context: OperationContext, request: RequestOf<O>) => Promise<CallResult<O>>
}

// The four operations on push notification configs: validated here, performed by the engine.

type PushOperation = Extract<Operation, `${string}PushNotificationConfig${string}`>

const pushOperations: {
  readonly [O in PushOperation]: (context: OperationContext, request: RequestOf<O>) => Promise<ResultOf<O>>
} = {
  async CreateTaskPushNotificationConfig(context, request) {
    const push = openPush(context, request)
    await checkConfig(context, request, '')
    // In versions where setting replaces, a config without an id replaces the task's config without an id (B-116).
    const isUnnamed = request.id === undefined || request.id === ''
    const replaces = isUnnamed && context.call.protocolVersion.behavior.pushWithoutId === 'replace'
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

function openPush(context: OperationContext, { tenant, taskId }: RequestOf<PushOperation>): PushConfigService {
  const push = requirePush(context)
  context.call.taskId = taskId
  context.tenant = context.call.server.tenants.resolve(tenant, context.caller)
  context.push = pushSettingsOf(context)
  return push
}

/** Throws PUSH_NOTIFICATION_NOT_SUPPORTED if push notifications are not configured. */
export function requirePush({ call: { server } }: OperationContext): PushConfigService {
  if (server.push === undefined || server.engine.push === undefined) throw pushNotSupported()
  return server.engine.push
}

/** Clients of 0.x name the config without an id `default`; a config with that id takes precedence (B-116). */
async function resolveConfigKey(
  key: PushNotificationConfigKey,
  context: OperationContext,
  push: PushConfigService,
): Promise<PushNotificationConfigKey> {
  if (key.id !== 'default' || context.call.protocolVersion.behavior.pushWithoutId !== 'replace') return key
  const { configs } = await push.list({ taskId: key.taskId }, context)
  return configs.some(({ id }) => id === key.id) ? key : { ...key, id: key.taskId }
}

/** B-71: refused before any work is done for the message. */
async function checkInlinePushConfig(context: OperationContext, config: TaskPushNotificationConfig): Promise<void> {
  await checkConfig(context, config, 'configuration.taskPushNotificationConfig.')
}

async function checkConfig(
  { call: { server }, dialect }: OperationContext,
  config: TaskPushNotificationConfig,
  at: string,
): Promise<void> {
  if (server.push === undefined) throw pushNotSupported()
  const violations = await server.push.check(config, at)
  if (violations.length === 0) return
  throw invalidParams(violations.map((one) => ({ ...one, field: dialect.spell(one.field) })))
}

/** How notifications of configs from this call are delivered; `undefined` without push notifications. */
function pushSettingsOf({ call, extensions, traceparent }: OperationContext): PushDeliveryOptions | undefined {
  const { server, protocolVersion: version } = call
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

/** They may also throw at once: a function that only passes a promise on is not async, which would cost three more promises. */
export const operations: OperationTable = {
  async SendMessage(context, decoded) {
    const received = receiveMessage(context, decoded)
    const request = received instanceof Promise ? await received : received
    try {
      const sent = await context.call.server.engine.sendMessage(request, context)
      if ('task' in sent) context.call.taskId = sent.task.id
      return sent
    } catch (reason) {
      throw engineError(context, reason)
    }
  },
  async SendStreamingMessage(context, decoded) {
    const received = receiveMessage(context, decoded)
    const request = received instanceof Promise ? await received : received
    try {
      return await context.call.server.engine.streamMessage(request, context)
    } catch (reason) {
      throw engineError(context, reason)
    }
  },
  GetTask(context, request) {
    receiveRequest(context, request, request.id)
    const { server, protocolVersion } = context.call
    return server.engine.getTask(request, context, protocolVersion.behavior.showsTransitions)
  },
  ListTasks(context, request) {
    receiveRequest(context, request, undefined)
    return context.call.server.engine.listTasks(request, context)
  },
  CancelTask(context, request) {
    receiveRequest(context, request, request.id)
    const { server, protocolVersion } = context.call
    return server.engine.cancelTask(request, context, protocolVersion.behavior.cancelAgain)
  },
  SubscribeToTask(context, request) {
    receiveRequest(context, request, request.id)
    const { server, protocolVersion } = context.call
    return server.engine.subscribe(request, context, protocolVersion.behavior.subscribeToFinished)
  },
  async GetExtendedAgentCard(context, { tenant }) {
    const { caller, call } = context
    const { server, request, registeredAgent } = call
    if (registeredAgent.isDraining === true) throw server.agentNotFound(registeredAgent, caller)
    server.tenants.resolve(tenant, caller)
    const card = await extendedCard(registeredAgent, server.card(request, registeredAgent), caller)
    return server.sign(card, request)
  },
  ...pushOperations,
}

/** Resolves the tenant and notes the task that the request names. */
function receiveRequest(context: OperationContext, { tenant }: { readonly tenant?: string }, taskId?: string): void {
  context.call.taskId = taskId
  context.tenant = context.call.server.tenants.resolve(tenant, context.caller)
}

/** Checks a message and applies the extensions to it. A promise only if one of them needs it. */
function receiveMessage(
  context: OperationContext,
  decoded: SendMessageRequest,
): SendMessageRequest | Promise<SendMessageRequest> {
  receiveRequest(context, decoded, decoded.message.taskId)
  const isPlain = context.extensions.length === 0 && context.constrain === undefined
  if (!isPlain || decoded.configuration?.taskPushNotificationConfig !== undefined)
    return receiveExtendedMessage(context, decoded)
  const permitted = checkSkill(decoded, context.call.registeredAgent, context.caller)
  return permitted === undefined ? decoded : permitted.then(() => decoded)
}

async function receiveExtendedMessage(
  context: OperationContext,
  decoded: SendMessageRequest,
): Promise<SendMessageRequest> {
  const { registeredAgent } = context.call
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
async function applyCallHooks(
  context: OperationContext,
  given: Message,
  hooks: readonly Extension[],
): Promise<Message> {
  const message = withoutHookMetadata(given, hooks)
  for (const { uri, onCall } of hooks) {
    const said = given.metadata?.[uri]
    if (said !== undefined) narrowCall(context, (await onCall?.(said, message, context)) ?? {})
  }
  return message
}

/** Constraints can only narrow: a caller never gets a scope or a skill that it did not have, nor a later deadline. */
function narrowCall(context: OperationContext, constraints: CallConstraints): void {
  const { deadlineAt, provenance, scopes, skills, singleUse } = constraints
  if (deadlineAt !== undefined) context.deadlineAt = Math.min(deadlineAt, context.deadlineAt ?? Infinity)
  if (provenance !== undefined) context.provenance = provenance
  if (singleUse !== undefined) context.singleUse = singleUse
  const { caller } = context
  // A caller without a list of scopes has none; a caller without a list of skills may use all.
  if (scopes !== undefined && caller.scopes !== undefined)
    context.caller = { ...caller, scopes: context.call.server.intersectScopes(caller.scopes, scopes) }
  if (skills !== undefined)
    context.caller = { ...context.caller, skills: skills.filter((id) => caller.skills?.includes(id) ?? true) }
}

/** The engine names invalid fields as in the model; this renames them as the caller spells them. */
function engineError({ call, caller, dialect }: OperationContext, reason: unknown): unknown {
  const { server, registeredAgent } = call
  if (!(reason instanceof A2AError)) return reason
  const isGone = registeredAgent.isDraining === true && reason.code === 'AGENT_UNAVAILABLE'
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
