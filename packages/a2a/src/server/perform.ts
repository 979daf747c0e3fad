/**
 * One call, decoded, done and encoded. The engine does the work; what is refused here
 * is what only the server knows: which extensions a card requires, that there are no
 * tenants yet, where a webhook may be, and how many streams one caller may hold.
 */
import type { Call } from '../bindings/call.ts'
import type { HttpRequest } from '../bindings/http.ts'
import type { CallContext, Engine, EventStream, PushManner, StreamItem } from '../engine/contract.ts'
import type { Caller } from '../model/caller.ts'
import type { AgentCard } from '../model/card.ts'
import { A2AError, invalidParams } from '../model/error.ts'
import { cursorExtension } from '../model/extension.ts'
import type { Operation, RequestOf, SendMessageRequest } from '../model/operation.ts'
import type { Dialect } from '../versions/version.ts'
import { checkSkill } from './check-skill.ts'
import { extendedCard } from './extended-card.ts'
import { requireExtensions, withCursor } from './extensions.ts'
import type { PushRules } from './push.ts'
import { checkInline, mannerOf, performPush, pushNotSupported } from './push-operations.ts'
import type { Resident } from './roster.ts'
import type { SharedBytes } from './shared-bytes.ts'
import type { Slots } from './slots.ts'

export interface PerformParts {
  readonly engine: Engine
  readonly bytes: SharedBytes
  readonly slots: Slots
  /** Without them there are no webhooks. */
  readonly push: PushRules | undefined
  /** Whether a caller without a name may list, who sends this. */
  anonymousMayList(request: HttpRequest): boolean
  /** The card with our signatures, if we sign. */
  sign(card: AgentCard, request: HttpRequest): Promise<AgentCard>
}

/** A JSON text, or a stream with what turns its items into such texts. */
export type Outcome = string | OpenStream
export interface OpenStream {
  readonly stream: EventStream
  encode(item: StreamItem): string
  /** Streams with the same answer to this encode an item alike. */
  readonly encoding: string
  /** Gives the caller's slot back. */
  ended(): void
}

export interface Performance {
  readonly call: Call
  readonly request: HttpRequest
  readonly resident: Resident
  /** The public card as this request's sender sees it. */
  card(): AgentCard
}

export async function perform(parts: PerformParts, performance: Performance): Promise<Outcome> {
  const { engine, bytes } = parts
  const { call, resident } = performance
  const { dialect } = call
  switch (call.operation) {
    case 'SendMessage': {
      const request = decodeSend('SendMessage', parts, performance)
      await checkSkill(request, resident, call.caller)
      const sent = engine.sendMessage(request, contextOf(parts, performance, request)).catch(inWordsOf(dialect))
      return dialect.encodeResult('SendMessage', await sent)
    }
    case 'SendStreamingMessage': {
      requireStreaming(resident)
      const request = decodeSend('SendStreamingMessage', parts, performance)
      await checkSkill(request, resident, call.caller)
      const context = contextOf(parts, performance, request)
      return open(parts, performance, () => engine.streamMessage(request, context).catch(inWordsOf(dialect)))
    }
    case 'GetTask': {
      const request = decode('GetTask', call)
      return bytes.task(dialect, await engine.getTask(request, contextOf(parts, performance)))
    }
    case 'ListTasks': {
      const request = decode('ListTasks', call)
      return dialect.encodeResult('ListTasks', await engine.listTasks(request, contextOf(parts, performance)))
    }
    case 'CancelTask': {
      const request = decode('CancelTask', call)
      const { cancelAgain } = call.version.habits
      return bytes.task(dialect, await engine.cancelTask(request, contextOf(parts, performance), cancelAgain))
    }
    case 'SubscribeToTask': {
      requireStreaming(resident)
      const request = decode('SubscribeToTask', call)
      const { subscribeToFinished } = call.version.habits
      return open(parts, performance, (context) => engine.subscribe(request, context, subscribeToFinished))
    }
    case 'GetExtendedAgentCard': {
      decode('GetExtendedAgentCard', call)
      const card = await extendedCard(resident, performance.card(), call.caller)
      return dialect.encodeResult('GetExtendedAgentCard', await parts.sign(card, performance.request))
    }
    case 'CreateTaskPushNotificationConfig':
    case 'GetTaskPushNotificationConfig':
    case 'ListTaskPushNotificationConfigs':
    case 'DeleteTaskPushNotificationConfig': {
      const rules = parts.push
      if (rules === undefined || engine.push === undefined) throw pushNotSupported()
      const context = new Context(call, performance.request, parts, mannerOf(rules, call, performance.request))
      const about = { call, desk: engine.push, rules, context }
      return performPush(call.operation, { ...about, decode: (operation) => decode(operation, call) })
    }
  }
}

function decode<O extends Operation>(operation: O, { dialect, payload }: Call): RequestOf<O> {
  const request = dialect.decodeRequest(operation, payload)
  if (request.tenant !== undefined && request.tenant !== '') {
    throw invalidParams([{ field: 'tenant', description: 'names a tenant, and this agent declares none' }])
  }
  return request
}

function decodeSend(
  operation: 'SendMessage' | 'SendStreamingMessage',
  parts: PerformParts,
  { call, resident }: Performance,
): SendMessageRequest {
  requireExtensions(call.extensions, resident)
  const request = decode(operation, call)
  checkInline(parts.push, call, request)
  return request
}

/** What the engine finds wrong it names in the model's words; the caller knows its own. */
function inWordsOf(dialect: Dialect): (reason: unknown) => never {
  return (reason) => {
    if (!(reason instanceof A2AError) || reason.details.violations === undefined) throw reason
    const violations = reason.details.violations.map((one) => ({ ...one, field: dialect.spell(one.field) }))
    throw new A2AError(reason.code, reason.message, { ...reason.details, violations }, { cause: reason.cause })
  }
}

function requireStreaming({ entry }: Resident): void {
  if (!entry.streaming)
    throw new A2AError('UNSUPPORTED_OPERATION', 'This operation is not supported: the agent does not stream')
}

function contextOf(parts: PerformParts, { call, request }: Performance, sent?: SendMessageRequest): CallContext {
  const asksForPush = sent?.configuration?.taskPushNotificationConfig !== undefined
  const manner = asksForPush && parts.push !== undefined ? mannerOf(parts.push, call, request) : undefined
  return new Context(call, request, parts, manner)
}

/** A class for its getters: on an object literal they are made anew for each call, which cost a third of our time. */
class Context implements CallContext {
  readonly agent: string
  readonly tenant: string
  readonly caller: Caller
  readonly extensions: readonly string[]
  readonly lastEventId?: number
  readonly push?: PushManner
  readonly #call: Call
  readonly #request: HttpRequest
  readonly #parts: PerformParts

  constructor(call: Call, request: HttpRequest, parts: PerformParts, push: PushManner | undefined) {
    this.agent = call.agent
    this.tenant = call.caller.tenant ?? ''
    this.caller = call.caller
    this.extensions = call.extensions
    if (call.lastEventId !== undefined) this.lastEventId = call.lastEventId
    if (push !== undefined) this.push = push
    this.#call = call
    this.#request = request
    this.#parts = parts
  }

  /** Asked for by those who wait; most calls are answered before anybody could leave. */
  get signal(): AbortSignal {
    return this.#call.signal
  }

  get mayList(): boolean {
    return this.caller.anonymous !== true || this.#parts.anonymousMayList(this.#request)
  }
}

/** The stream has begun when this resolves: until then its errors are plain ones (F-7). */
async function open(
  parts: PerformParts,
  performance: Performance,
  start: (context: CallContext) => Promise<EventStream>,
): Promise<OpenStream> {
  const { dialect, caller, extensions } = performance.call
  const release = parts.slots.take(caller.id)
  try {
    const stream = await start(contextOf(parts, performance))
    const marks = extensions.includes(cursorExtension)
    return {
      stream,
      encode(item) {
        const event = marks ? withCursor(item) : item.event
        return dialect.seal(parts.bytes.event(dialect, event), event, item.final)
      },
      encoding: marks ? `${dialect.id} with cursor` : dialect.id,
      ended: release,
    }
  } catch (reason) {
    release()
    throw reason
  }
}
