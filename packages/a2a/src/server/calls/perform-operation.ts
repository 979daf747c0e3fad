/**
 * Decodes, performs and encodes one call. The engine does the work. This module checks what only the server knows: the extensions
 * that a card requires, the tenant, the allowed webhook addresses, and the number of streams per caller.
 */
import type { Call } from '../../bindings/call.ts'
import type { HttpRequest } from '../../bindings/http.ts'
import type { CallContext, Engine, TaskEventStream, StreamItem } from '../../engine/contract.ts'
import type { SharedTimer } from '../../engine/shared-timers.ts'
import { setSharedTimeout } from '../../engine/shared-timers.ts'
import type { AgentCard } from '../../model/card.ts'
import type { Caller } from '../../model/caller.ts'
import { A2AError } from '../../model/error.ts'
import { heavyStep, isMarkedLarge } from '../../model/heavy-step.ts'
import { taskBytes } from '../../model/json-bytes.ts'
import type { ListTasksResponse, Operation, RequestOf, SendMessageRequest } from '../../model/operation.ts'
import type { Message, StreamEvent, Task } from '../../model/task.ts'
import type { Dialect, ProtocolVersion } from '../../versions/version.ts'
import type { OnStream } from '../admission/admission.ts'
import {
  type ResponseSource,
  type ResponseReader,
  respondWithinBudget,
  type LargeResponse,
} from '../streaming/large-response.ts'
import { ServerCallContext } from './call-context.ts'
import { checkSkill } from '../admission/check-skill.ts'
import { type EndableStream, endableStream } from '../streaming/endable-stream.ts'
import { extendedCard } from '../cards/extended-card.ts'
import {
  eventDecoratorFor,
  applyMessageHooks,
  requireExtensions,
  callConstraintsOf,
} from '../extensions/apply-extensions.ts'
import type { ConstrainedMessage } from '../extensions/apply-extensions.ts'
import type { PushRules } from '../push/push-setup.ts'
import {
  checkInlinePushConfig,
  pushSettingsOf,
  performPushOperation,
  pushNotSupported,
} from '../push/push-operations.ts'
import type { RegisteredAgent } from '../agents/registered-agent.ts'
import type { EncodingCache } from '../streaming/encoding-cache.ts'
import { clientNetwork } from '../http/client-network.ts'
import { encodeChunk, type EncodedItem, type SealedBytes, chunkText } from '../streaming/byte-slices.ts'
import type { StreamLimits } from '../admission/stream-limits.ts'
import type { Tenants } from '../admission/tenants.ts'
import type { ReaderAccount, UnsentBytes } from '../streaming/unsent-bytes.ts'
import { type RequestLog, logFirstEvent } from './request-log.ts'

export interface OperationDeps {
  readonly engine: Engine
  readonly encodingCache: EncodingCache
  readonly streamLimits: StreamLimits
  readonly unsentBytes: UnsentBytes
  /** The sender's address, as far as it is known. */
  senderAddressOf(request: HttpRequest): string | undefined
  readonly tenants: Tenants
  /** Called for every stream that opens. */
  readonly onStream: OnStream | undefined
  /** Without them there are no push notifications. */
  readonly push: PushRules | undefined
  /** Whether an anonymous sender of this request may list tasks. */
  canListAnonymously(request: HttpRequest): boolean
  /** Returns the card with the server's signatures, if it signs cards. */
  sign(card: AgentCard, request: HttpRequest): Promise<AgentCard>
  /** The error for an agent that is being removed and accepts no new messages. */
  agentNotFound(registeredAgent: RegisteredAgent, caller: Caller): A2AError
}

/** A JSON text, a large response whose bytes are counted, or a stream with the encoder of its items. */
export type OperationResult = string | LargeResponse | OpenEventStream
export interface OpenEventStream {
  readonly stream: TaskEventStream
  readonly account: ReaderAccount
  encode(item: StreamItem): EncodedItem
  /** The bytes that `encode` would return, if they are cached. */
  cached(item: StreamItem): Uint8Array | undefined
  /** Streams with the same value encode an item alike. */
  readonly encoding: string
  /** Releases the caller's stream slot. */
  onEnd(): void
}

export interface OperationInput {
  readonly call: Call
  readonly request: HttpRequest
  readonly registeredAgent: RegisteredAgent
  /** Whether the binding copies a response for each reader, so that bytes held by other readers count again. */
  readonly isCopied?: boolean
  /** Present if `onAnswer` is configured. */
  readonly requestLog: RequestLog | undefined
  /** The public card for the sender of this request. */
  card(): AgentCard
}

export async function performOperation(deps: OperationDeps, input: OperationInput): Promise<OperationResult> {
  const { engine, encodingCache } = deps
  const { call, registeredAgent, requestLog } = input
  const { dialect } = call
  switch (call.operation) {
    case 'SendMessage': {
      const { request, context } = await receiveMessage('SendMessage', deps, input)
      const sent = await engine.sendMessage(request, context).catch(spellErrorFields(call, registeredAgent, deps))
      if (requestLog !== undefined && 'task' in sent) requestLog.taskId = sent.task.id
      if (isMarkedLarge(input.request)) await heavyStep()
      if ('message' in sent) return chunkText(encodeChunk(dialect.encodeResult('SendMessage', sent)))
      return respondWithinBudget(responseReader(deps, input), sent.task, {
        sizeOf: taskBytes,
        encode: (task) => encodeChunk(dialect.encodeResult('SendMessage', { task })),
        reload: reloadTask(engine, context, sent.task.id, request.configuration?.historyLength),
      })
    }
    case 'SendStreamingMessage': {
      requireStreaming(registeredAgent)
      const { request, context } = await receiveMessage('SendStreamingMessage', deps, input)
      return openStream(deps, input, () =>
        engine.streamMessage(request, context).catch(spellErrorFields(call, registeredAgent, deps)),
      )
    }
    case 'GetTask': {
      const request = decode('GetTask', call)
      const context = contextOf(deps, input, request)
      const { showsTransitions } = call.version.behavior
      const get = (): Promise<Task> => engine.getTask(request, context, showsTransitions)
      return respondWithinBudget(responseReader(deps, input), await get(), {
        ...taskResponse(encodingCache, dialect),
        reload: get,
      })
    }
    case 'ListTasks': {
      const request = decode('ListTasks', call)
      const context = contextOf(deps, input, request)
      const list = (): Promise<ListTasksResponse> => engine.listTasks(request, context)
      return respondWithinBudget(responseReader(deps, input), await list(), {
        sizeOf: ({ tasks }) => tasks.reduce((sum, task) => sum + taskBytes(task), 0),
        encode: (page) => encodeChunk(dialect.encodeResult('ListTasks', page)),
        reload: list,
      })
    }
    case 'CancelTask': {
      const request = decode('CancelTask', call)
      const { cancelAgain } = call.version.behavior
      const context = contextOf(deps, input, request)
      return respondWithinBudget(responseReader(deps, input), await engine.cancelTask(request, context, cancelAgain), {
        ...taskResponse(encodingCache, dialect),
        reload: reloadTask(engine, context, request.id),
      })
    }
    case 'SubscribeToTask': {
      requireStreaming(registeredAgent)
      const request = decode('SubscribeToTask', call)
      const { subscribeToFinished } = call.version.behavior
      const context = contextOf(deps, input, request)
      return openStream(deps, input, () => engine.subscribe(request, context, subscribeToFinished))
    }
    case 'GetExtendedAgentCard': {
      const { tenant } = decode('GetExtendedAgentCard', call)
      if (registeredAgent.entry.isDraining === true) throw deps.agentNotFound(registeredAgent, call.caller)
      deps.tenants.resolve(tenant, call.caller)
      const card = await extendedCard(registeredAgent, input.card(), call.caller)
      return dialect.encodeResult('GetExtendedAgentCard', await deps.sign(card, input.request))
    }
    case 'CreateTaskPushNotificationConfig':
    case 'GetTaskPushNotificationConfig':
    case 'ListTaskPushNotificationConfigs':
    case 'DeleteTaskPushNotificationConfig': {
      const rules = deps.push
      if (rules === undefined || engine.push === undefined) throw pushNotSupported()
      const about = { call, push: engine.push, rules }
      return performPushOperation(call.operation, {
        ...about,
        decode: (operation) => decode(operation, call),
        contextOf: (request) => contextOf(deps, input, request, true),
      })
    }
  }
}

/** The bare task, as GetTask and CancelTask return it. */
function taskResponse(bytes: EncodingCache, dialect: Dialect): Omit<ResponseSource<Task>, 'reload'> {
  return {
    sizeOf: taskBytes,
    encode: (task) => bytes.task(dialect, task),
    cached: (task) => bytes.cachedTask(dialect, task),
  }
}

/** A separate function, so that its closure holds no task. */
function reloadTask(engine: Engine, context: CallContext, id: string, historyLength?: number): () => Promise<Task> {
  return () => engine.getTask({ id, ...(historyLength !== undefined ? { historyLength } : {}) }, context)
}

function responseReader(deps: OperationDeps, input: OperationInput): ResponseReader {
  return {
    openAccount: () => deps.unsentBytes.open(callerKey(deps, input)),
    signal: () => input.request.signal,
    isCopied: input.isCopied === true,
  }
}

/**
 * The key for counting unsent bytes. Anonymous callers are distinguished by network, because single IPv6 addresses cost nothing.
 */
function callerKey({ senderAddressOf }: OperationDeps, { call: { caller }, request }: OperationInput): string {
  return caller.anonymous === true ? `anonymous ${clientNetwork(senderAddressOf(request))}` : caller.id
}

function decode<O extends Operation>(operation: O, { dialect, payload }: Call): RequestOf<O> {
  return dialect.decodeRequest(operation, payload)
}

interface ReceivedMessage {
  readonly request: SendMessageRequest
  readonly context: CallContext
}

/** Checks a message and applies the extensions to it. */
async function receiveMessage(
  operation: 'SendMessage' | 'SendStreamingMessage',
  deps: OperationDeps,
  input: OperationInput,
): Promise<ReceivedMessage> {
  const { call, registeredAgent } = input
  requireExtensions(call.extensions, registeredAgent)
  const decoded = operation === 'SendMessage' ? decode(operation, call) : streamRequestOf(decode(operation, call))
  const inline = decoded.configuration?.taskPushNotificationConfig
  const context = contextOf(deps, input, decoded, inline !== undefined)
  if (inline !== undefined) await checkInlinePushConfig(deps.push, call, inline)
  const termed = callConstraintsOf(decoded.message, context, registeredAgent)
  const request = termed === undefined ? decoded : { ...decoded, message: applyConstraints(await termed, context) }
  const permitted = checkSkill(request, registeredAgent, context.caller)
  if (permitted instanceof Promise) await permitted
  const hooked = applyMessageHooks(request.message, context, registeredAgent)
  if (hooked === undefined) return { request, context }
  const message = await hooked
  if (message !== request.message) context.receivedMessage = request.message
  return { request: { ...request, message }, context }
}

/** A stream never returns early, whatever its configuration says or omits (B-65). */
function streamRequestOf(request: SendMessageRequest): SendMessageRequest {
  if (request.configuration?.returnImmediately !== true) return request
  const { returnImmediately: _ignored, ...configuration } = request.configuration
  return { ...request, configuration }
}

function applyConstraints({ message, constraints }: ConstrainedMessage, context: ServerCallContext): Message {
  const { deadlineAt, provenance, scopes, skills } = constraints
  if (deadlineAt !== undefined) context.deadlineAt = deadlineAt
  if (provenance !== undefined) context.provenance = provenance
  if (scopes !== undefined) context.caller = { ...context.caller, scopes }
  if (skills !== undefined) context.caller = { ...context.caller, skills }
  return message
}

/** The engine names invalid fields as in the model; this renames them as the caller spells them. */
function spellErrorFields(
  { dialect, caller }: Call,
  registeredAgent: RegisteredAgent,
  deps: OperationDeps,
): (reason: unknown) => never {
  return (reason) => {
    if (!(reason instanceof A2AError)) throw reason
    const isGone = registeredAgent.entry.isDraining === true && reason.code === 'AGENT_UNAVAILABLE'
    if (isGone) throw deps.agentNotFound(registeredAgent, caller)
    if (reason.details.violations === undefined) throw reason
    let { message } = reason
    const violations = reason.details.violations.map((one) => {
      const field = dialect.spell(one.field)
      message = message.replaceAll(one.field, field)
      return { ...one, field }
    })
    throw new A2AError(reason.code, message, { ...reason.details, violations }, { cause: reason.cause })
  }
}

function requireStreaming({ entry }: RegisteredAgent): void {
  if (!entry.streaming)
    throw new A2AError('UNSUPPORTED_OPERATION', 'This operation is not supported: the agent does not stream')
}

function contextOf(
  { push, tenants, canListAnonymously }: OperationDeps,
  { call, request, requestLog }: OperationInput,
  decodedRequest: Exclude<RequestOf<Operation>, undefined>,
  asksForPush = false,
): ServerCallContext {
  if (requestLog !== undefined) requestLog.taskId = taskIdInRequest(decodedRequest)
  const about = {
    call,
    request,
    tenant: tenants.resolve(decodedRequest.tenant, call.caller),
    canListAnonymously,
  }
  return new ServerCallContext(
    about,
    asksForPush && push !== undefined ? pushSettingsOf(push, call, request) : undefined,
  )
}

/** The task id in a request, if it has one. */
function taskIdInRequest(decodedRequest: object): string | undefined {
  const { message, taskId, id } = decodedRequest as { message?: { taskId?: string }; taskId?: string; id?: string }
  return message === undefined ? (taskId ?? id) : message.taskId
}

export function pathNotFound({ id }: ProtocolVersion): A2AError {
  return new A2AError('METHOD_NOT_FOUND', `A2A ${id} has no such path`)
}

/** The stream has begun when this resolves; until then its errors are plain responses (F-7). */
async function openStream(
  deps: OperationDeps,
  input: OperationInput,
  start: () => Promise<TaskEventStream>,
): Promise<OpenEventStream> {
  const { call, requestLog } = input
  const { dialect, caller, extensions } = call
  const release = deps.streamLimits.acquire(caller.id, input.registeredAgent.name)
  try {
    const stream = await start()
    const decoration = eventDecoratorFor(extensions, input.registeredAgent)
    const eventOf = (item: StreamItem): StreamEvent =>
      decoration === undefined ? item.event : decoration.decorate(item)
    const opened: OpenEventStream = {
      stream: requestLog === undefined ? stream : logFirstEvent(stream, requestLog),
      account: deps.unsentBytes.open(callerKey(deps, input)),
      encode(item) {
        const event = eventOf(item)
        const payload = deps.encodingCache.event(dialect, event)
        if (typeof payload === 'string') return dialect.seal(payload, event, item.final)
        return sealBytes(dialect, payload, event, item.final)
      },
      cached(item) {
        const payload = deps.encodingCache.cachedEvent(dialect, eventOf(item))
        return typeof payload === 'object' ? payload : undefined
      },
      encoding: decoration === undefined ? dialect.id : `${dialect.id} ${decoration.key}`,
      onEnd: release,
    }
    return deps.onStream === undefined ? opened : endableByOperator(opened, deps.onStream, input)
  } catch (reason) {
    release()
    throw reason
  }
}

/** How long an ended stream may take to send its last error before the connection is closed. */
const lastErrorMs = 500

/** Wraps the stream so that the operator can end it; without `onStream` it is returned unchanged. */
function endableByOperator(
  opened: OpenEventStream,
  onStream: OnStream,
  { call, request, registeredAgent }: OperationInput,
): OpenEventStream {
  let source: EndableStream | undefined
  let cut: SharedTimer | undefined
  let isOver = false
  const release = onStream({
    agent: registeredAgent.name,
    caller: call.caller,
    end(reason) {
      if (isOver) return
      source?.end(reason)
      // A client that reads nothing would otherwise hold the stream open until its stall timeout. Not canceled when the source has
      // ended: the last error may still wait behind unread data.
      cut ??= setSharedTimeout(lastErrorMs, () => request.disconnect?.())
    },
  })
  if (release === undefined) return opened
  const made = (source = endableStream(opened.stream))
  return {
    ...opened,
    stream: made.stream,
    encode(item) {
      made.check()
      return opened.encode(item)
    },
    onEnd() {
      isOver = true
      release()
      opened.onEnd()
    },
  }
}

/** The last two characters of JSON are always ASCII. */
function sealBytes(dialect: Dialect, bytes: Uint8Array, event: StreamEvent, final: boolean): SealedBytes {
  const end = bytes.length - 2
  return { bytes, end, suffix: dialect.seal(String.fromCharCode(...bytes.subarray(end)), event, final) }
}
