/**
 * One call, decoded, done and encoded. The engine does the work; what is refused here
 * is what only the server knows: which extensions a card requires, whose tenant it may
 * be, where a webhook may be, and how many streams one caller may hold.
 */
import type { Call } from '../bindings/call.ts'
import type { HttpRequest } from '../bindings/http.ts'
import type { CallContext, Engine, EventStream, StreamItem } from '../engine/contract.ts'
import type { Wait } from '../engine/later.ts'
import { later } from '../engine/later.ts'
import type { AgentCard } from '../model/card.ts'
import type { Caller } from '../model/caller.ts'
import { A2AError } from '../model/error.ts'
import { heavyStep, isMarkedLarge } from '../model/heavy-step.ts'
import { taskBytes } from '../model/json-bytes.ts'
import type { ListTasksResponse, Operation, RequestOf, SendMessageRequest } from '../model/operation.ts'
import type { Message, StreamEvent, Task } from '../model/task.ts'
import type { Dialect, ProtocolVersion } from '../versions/version.ts'
import type { OnStream } from './admission.ts'
import { type AnswerParts, type AnswerReader, answerWhenRoom, type LargeAnswer } from './answer-when-room.ts'
import { ServedContext } from './call-context.ts'
import { checkSkill } from './check-skill.ts'
import { type EndableStream, endableStream } from './endable-stream.ts'
import { extendedCard } from './extended-card.ts'
import { decorationFor, hookMessage, requireExtensions, termsOf } from './extensions.ts'
import type { TermedMessage } from './extensions.ts'
import type { PushRules } from './push.ts'
import { checkInline, mannerOf, performPush, pushNotSupported } from './push-operations.ts'
import type { Resident } from './resident.ts'
import type { SharedBytes } from './shared-bytes.ts'
import { clientNetwork } from './client-network.ts'
import { encoded, type EncodedItem, type SealedBytes, textOf } from './slices.ts'
import type { Slots } from './slots.ts'
import type { Tenants } from './tenants.ts'
import type { ReaderAccount, UnsentBytes } from './unsent-bytes.ts'
import { type Visit, watched } from './visit.ts'

export interface PerformParts {
  readonly engine: Engine
  readonly bytes: SharedBytes
  readonly slots: Slots
  readonly unsent: UnsentBytes
  /** Who sent a request, as far as is known. */
  addressOf(request: HttpRequest): string | undefined
  readonly tenants: Tenants
  /** Called for every stream that opens. */
  readonly onStream: OnStream | undefined
  /** Without them there are no webhooks. */
  readonly push: PushRules | undefined
  /** Whether a caller without a name may list, who sends this. */
  anonymousMayList(request: HttpRequest): boolean
  /** The card with our signatures, if we sign. */
  sign(card: AgentCard, request: HttpRequest): Promise<AgentCard>
  /** The error for an agent that is leaving and takes no new messages. */
  agentNotFound(resident: Resident, caller: Caller): A2AError
}

/** A JSON text, a large answer whose bytes are counted, or a stream with the encoder of its items. */
export type Outcome = string | LargeAnswer | OpenStream
export interface OpenStream {
  readonly stream: EventStream
  readonly account: ReaderAccount
  encode(item: StreamItem): EncodedItem
  /** The bytes that `encode` would answer with, if they were made before. */
  known(item: StreamItem): Uint8Array | undefined
  /** Streams with the same answer to this encode an item alike. */
  readonly encoding: string
  /** Gives the caller's slot back. */
  ended(): void
}

export interface Performance {
  readonly call: Call
  readonly request: HttpRequest
  readonly resident: Resident
  /** Whether the binding copies an answer for each reader, so that bytes held by other readers count again. */
  readonly isCopied?: boolean
  /** There if somebody is told how it ends. */
  readonly visit: Visit | undefined
  /** The public card as this request's sender sees it. */
  card(): AgentCard
}

export async function perform(parts: PerformParts, performance: Performance): Promise<Outcome> {
  const { engine, bytes } = parts
  const { call, resident, visit } = performance
  const { dialect } = call
  switch (call.operation) {
    case 'SendMessage': {
      const { request, context } = await receive('SendMessage', parts, performance)
      const sent = await engine.sendMessage(request, context).catch(inWordsOf(call, resident, parts))
      if (visit !== undefined && 'task' in sent) visit.taskId = sent.task.id
      if (isMarkedLarge(performance.request)) await heavyStep()
      if ('message' in sent) return textOf(encoded(dialect.encodeResult('SendMessage', sent)))
      return answerWhenRoom(answerReader(parts, performance), sent.task, {
        sizeOf: taskBytes,
        encode: (task) => encoded(dialect.encodeResult('SendMessage', { task })),
        again: taskAgain(engine, context, sent.task.id, request.configuration?.historyLength),
      })
    }
    case 'SendStreamingMessage': {
      requireStreaming(resident)
      const { request, context } = await receive('SendStreamingMessage', parts, performance)
      return open(parts, performance, () =>
        engine.streamMessage(request, context).catch(inWordsOf(call, resident, parts)),
      )
    }
    case 'GetTask': {
      const request = decode('GetTask', call)
      const context = contextOf(parts, performance, request)
      const { showsTransitions } = call.version.habits
      const get = (): Promise<Task> => engine.getTask(request, context, showsTransitions)
      return answerWhenRoom(answerReader(parts, performance), await get(), { ...plainTask(bytes, dialect), again: get })
    }
    case 'ListTasks': {
      const request = decode('ListTasks', call)
      const context = contextOf(parts, performance, request)
      const list = (): Promise<ListTasksResponse> => engine.listTasks(request, context)
      return answerWhenRoom(answerReader(parts, performance), await list(), {
        sizeOf: ({ tasks }) => tasks.reduce((sum, task) => sum + taskBytes(task), 0),
        encode: (page) => encoded(dialect.encodeResult('ListTasks', page)),
        again: list,
      })
    }
    case 'CancelTask': {
      const request = decode('CancelTask', call)
      const { cancelAgain } = call.version.habits
      const context = contextOf(parts, performance, request)
      return answerWhenRoom(answerReader(parts, performance), await engine.cancelTask(request, context, cancelAgain), {
        ...plainTask(bytes, dialect),
        again: taskAgain(engine, context, request.id),
      })
    }
    case 'SubscribeToTask': {
      requireStreaming(resident)
      const request = decode('SubscribeToTask', call)
      const { subscribeToFinished } = call.version.habits
      const context = contextOf(parts, performance, request)
      return open(parts, performance, () => engine.subscribe(request, context, subscribeToFinished))
    }
    case 'GetExtendedAgentCard': {
      const { tenant } = decode('GetExtendedAgentCard', call)
      if (resident.entry.isLeaving === true) throw parts.agentNotFound(resident, call.caller)
      parts.tenants.resolve(tenant, call.caller)
      const card = await extendedCard(resident, performance.card(), call.caller)
      return dialect.encodeResult('GetExtendedAgentCard', await parts.sign(card, performance.request))
    }
    case 'CreateTaskPushNotificationConfig':
    case 'GetTaskPushNotificationConfig':
    case 'ListTaskPushNotificationConfigs':
    case 'DeleteTaskPushNotificationConfig': {
      const rules = parts.push
      if (rules === undefined || engine.push === undefined) throw pushNotSupported()
      const about = { call, desk: engine.push, rules }
      return performPush(call.operation, {
        ...about,
        decode: (operation) => decode(operation, call),
        contextOf: (request) => contextOf(parts, performance, request, true),
      })
    }
  }
}

/** The bare task, as GetTask and CancelTask answer it. */
function plainTask(bytes: SharedBytes, dialect: Dialect): Omit<AnswerParts<Task>, 'again'> {
  return {
    sizeOf: taskBytes,
    encode: (task) => bytes.task(dialect, task),
    known: (task) => bytes.knownTask(dialect, task),
  }
}

/** A function of its own, so that it refers to no task. */
function taskAgain(engine: Engine, context: CallContext, id: string, historyLength?: number): () => Promise<Task> {
  return () => engine.getTask({ id, ...(historyLength !== undefined ? { historyLength } : {}) }, context)
}

function answerReader(parts: PerformParts, performance: Performance): AnswerReader {
  return {
    open: () => parts.unsent.open(callerKey(parts, performance)),
    signal: () => performance.request.signal,
    isCopied: performance.isCopied === true,
  }
}

/** Whose unsent bytes these are. Callers without a name are told apart by their network: an address of IPv6 is free. */
function callerKey({ addressOf }: PerformParts, { call: { caller }, request }: Performance): string {
  return caller.anonymous === true ? `anonymous ${clientNetwork(addressOf(request))}` : caller.id
}

function decode<O extends Operation>(operation: O, { dialect, payload }: Call): RequestOf<O> {
  return dialect.decodeRequest(operation, payload)
}

interface Received {
  readonly request: SendMessageRequest
  readonly context: CallContext
}

/** A message that may be sent, as the extensions leave it. */
async function receive(
  operation: 'SendMessage' | 'SendStreamingMessage',
  parts: PerformParts,
  performance: Performance,
): Promise<Received> {
  const { call, resident } = performance
  requireExtensions(call.extensions, resident)
  const decoded = operation === 'SendMessage' ? decode(operation, call) : streamRequestOf(decode(operation, call))
  const inline = decoded.configuration?.taskPushNotificationConfig
  const context = contextOf(parts, performance, decoded, inline !== undefined)
  if (inline !== undefined) await checkInline(parts.push, call, inline)
  const termed = termsOf(decoded.message, context, resident)
  const request = termed === undefined ? decoded : { ...decoded, message: takeTerms(await termed, context) }
  const permitted = checkSkill(request, resident, context.caller)
  if (permitted instanceof Promise) await permitted
  const hooked = hookMessage(request.message, context, resident)
  if (hooked === undefined) return { request, context }
  const message = await hooked
  if (message !== request.message) context.received = request.message
  return { request: { ...request, message }, context }
}

/** A stream has nothing to return early, whatever a configuration says or leaves out (B-65). */
function streamRequestOf(request: SendMessageRequest): SendMessageRequest {
  if (request.configuration?.returnImmediately !== true) return request
  const { returnImmediately: _ignored, ...configuration } = request.configuration
  return { ...request, configuration }
}

function takeTerms({ message, terms }: TermedMessage, context: ServedContext): Message {
  const { deadlineAt, provenance, scopes, skills } = terms
  if (deadlineAt !== undefined) context.deadlineAt = deadlineAt
  if (provenance !== undefined) context.provenance = provenance
  if (scopes !== undefined) context.caller = { ...context.caller, scopes }
  if (skills !== undefined) context.caller = { ...context.caller, skills }
  return message
}

/** What the engine finds wrong it names in the model's words; the caller knows its own. */
function inWordsOf({ dialect, caller }: Call, resident: Resident, parts: PerformParts): (reason: unknown) => never {
  return (reason) => {
    if (!(reason instanceof A2AError)) throw reason
    const isGone = resident.entry.isLeaving === true && reason.code === 'AGENT_UNAVAILABLE'
    if (isGone) throw parts.agentNotFound(resident, caller)
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

function requireStreaming({ entry }: Resident): void {
  if (!entry.streaming)
    throw new A2AError('UNSUPPORTED_OPERATION', 'This operation is not supported: the agent does not stream')
}

function contextOf(
  { push, tenants, anonymousMayList }: PerformParts,
  { call, request, visit }: Performance,
  asked: Exclude<RequestOf<Operation>, undefined>,
  asksForPush = false,
): ServedContext {
  if (visit !== undefined) visit.taskId = taskOf(asked)
  const about = {
    call,
    request,
    tenant: tenants.resolve(asked.tenant, call.caller),
    anonymousMayList,
  }
  return new ServedContext(about, asksForPush && push !== undefined ? mannerOf(push, call, request) : undefined)
}

/** Which task a request is about, if it says. */
function taskOf(asked: object): string | undefined {
  const { message, taskId, id } = asked as { message?: { taskId?: string }; taskId?: string; id?: string }
  return message === undefined ? (taskId ?? id) : message.taskId
}

export function noSuchPath({ id }: ProtocolVersion): A2AError {
  return new A2AError('METHOD_NOT_FOUND', `A2A ${id} has no such path`)
}

/** The stream has begun when this resolves: until then its errors are plain ones (F-7). */
async function open(
  parts: PerformParts,
  performance: Performance,
  start: () => Promise<EventStream>,
): Promise<OpenStream> {
  const { call, visit } = performance
  const { dialect, caller, extensions } = call
  const release = parts.slots.take(caller.id, performance.resident.name)
  try {
    const stream = await start()
    const decoration = decorationFor(extensions, performance.resident)
    const eventOf = (item: StreamItem): StreamEvent =>
      decoration === undefined ? item.event : decoration.decorate(item)
    const opened: OpenStream = {
      stream: visit === undefined ? stream : watched(stream, visit),
      account: parts.unsent.open(callerKey(parts, performance)),
      encode(item) {
        const event = eventOf(item)
        const payload = parts.bytes.event(dialect, event)
        if (typeof payload === 'string') return dialect.seal(payload, event, item.final)
        return sealBytes(dialect, payload, event, item.final)
      },
      known(item) {
        const payload = parts.bytes.knownEvent(dialect, eventOf(item))
        return typeof payload === 'object' ? payload : undefined
      },
      encoding: decoration === undefined ? dialect.id : `${dialect.id} ${decoration.key}`,
      ended: release,
    }
    return parts.onStream === undefined ? opened : endable(opened, parts.onStream, performance)
  } catch (reason) {
    release()
    throw reason
  }
}

/** How long a stream that was ended may take to send its last error before the connection is cut. */
const lastErrorMs = 500

/** Wraps the stream so that the operator can end it; without `onStream` it stays as it is. */
function endable(opened: OpenStream, onStream: OnStream, { call, request, resident }: Performance): OpenStream {
  let source: EndableStream | undefined
  let cut: Wait | undefined
  let isOver = false
  const release = onStream({
    agent: resident.name,
    caller: call.caller,
    end(reason) {
      if (isOver) return
      source?.end(reason)
      // A reader that takes nothing would otherwise hold the stream open until its stall timeout. Not called off when the
      // source has ended: the last error may still wait behind what is not read.
      cut ??= later(lastErrorMs, () => request.disconnect?.())
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
    ended() {
      isOver = true
      release()
      opened.ended()
    },
  }
}

/** The last two characters of JSON are always ASCII. */
function sealBytes(dialect: Dialect, bytes: Uint8Array, event: StreamEvent, final: boolean): SealedBytes {
  const end = bytes.length - 2
  return { bytes, end, suffix: dialect.seal(String.fromCharCode(...bytes.subarray(end)), event, final) }
}
