/** Decodes the payload of a call from a binding, performs its operation, and encodes the result in the dialect of the call. */
import type { Pollable, StreamItem, TaskEventStream } from '../../engine/contract.ts'
import { nextOf, toPollable } from '../../engine/task/follow.ts'
import { A2AError, type ErrorCode } from '../../model/error.ts'
import { heavyStep, isHeavy, isMarkedLarge, type NextStep } from '../../model/heavy-step.ts'
import { decodeTextInSteps, encodeJsonInSteps, parseJsonInSteps } from '../../model/json-steps.ts'
import { recordBytes, taskBytes } from '../../model/json-nodes.ts'
import type { Operation, RequestOf, ResultOf, SendMessageRequest } from '../../model/operation.ts'
import { type StreamEvent, type Task, taskIdOfEvent } from '../../model/task.ts'
import type { ProtocolVersion } from '../../versions/index.ts'
import type { Dialect } from '../../versions/version.ts'
import type { RegisteredAgent } from '../agents/registered-agent.ts'
import { type EventDecorator, eventDecoratorFor, requireExtensions } from '../extensions/apply-extensions.ts'
import {
  encodeChunk,
  type EncodedItem,
  type EncodingCache,
  type SealedBytes,
  chunkText,
  wholeChunk,
} from '../streaming/encoding-cache.ts'
import { type EndableStream, endableStream } from '../streaming/endable-stream.ts'
import type { ResponseSource, LargeResponse } from '../streaming/large-response.ts'
import { respondWithinBudget } from '../streaming/large-response.ts'
import type { ReaderAccount } from '../streaming/unsent-bytes.ts'
import type { OnStream } from '../options.ts'
import type { AuthenticatedServerCall, ServerCall } from './call.ts'
import { operations, requirePush, type OperationContext, type StreamingOperation } from './operations.ts'

/** A JSON text, a large response whose bytes are counted, or a stream with the encoder of its items. */
export type OperationResult = string | LargeResponse | OpenEventStream
export interface OpenEventStream extends EventEncoder {
  readonly stream: TaskEventStream
  readonly account: ReaderAccount
  /** Throws the reason once the operator has ended the stream: events that were read before must not be sent afterwards. */
  check?(): void
  /** Releases the caller's stream slot. */
  onEnd(): void
}

interface EventEncoder {
  encode(item: StreamItem): EncodedItem
  /** The value of the JSON that `encode` returns, for a binding that does not send JSON. */
  payload(item: StreamItem): unknown
  /** Like `payload`, for a large item. */
  payloadInSteps(item: StreamItem, nextStep: NextStep): Promise<unknown>
  /** The bytes that `encode` would return, if they are cached. */
  cached(item: StreamItem): Uint8Array | undefined
  /** Encodes a large item in steps, so that `encode` need not; `undefined` if it is small, or encoded. */
  prepare(item: StreamItem, nextStep: NextStep): Promise<void> | undefined
  /** Streams with the same value encode an item alike. */
  readonly encoding: string
}

/** A request whose payload is not decoded yet. */
export interface EncodedRequest {
  readonly operation: Operation
  /** Released when it is decoded: a call may wait for its agent for hours. */
  payload: unknown
}

export async function performOperation(context: OperationContext, request: EncodedRequest): Promise<OperationResult> {
  try {
    return await perform(context, request)
  } finally {
    context.closeAccount()
  }
}

async function perform(context: OperationContext, encoded: EncodedRequest): Promise<OperationResult> {
  const { dialect } = context
  const { operation } = encoded
  const { registeredAgent } = context.call
  switch (operation) {
    case 'SendMessage': {
      requireExtensions(context.extensions, registeredAgent)
      const request = decode(operation, context, encoded)
      const sent = await operations.SendMessage(context, request)
      if (isMarkedLarge(context.call.request)) await heavyStep(context.call.callerKey)
      if ('message' in sent) {
        const { message } = sent
        return respondWithinBudget(context, message, {
          sizeOf: () => recordBytes({ type: 'message', message }),
          ...jsonEncoder(() => dialect.writeResult(operation, { message })),
          // No store has it.
          reload: async () => message,
        })
      }
      return respondWithinBudget(context, sent.task, {
        sizeOf: taskBytes,
        ...jsonEncoder((task) => dialect.writeResult(operation, { task })),
        reload: reloadTask(context, sent.task.id, request.configuration?.historyLength),
      })
    }
    case 'GetTask': {
      const request = decode(operation, context, encoded)
      const get = (): Promise<Task> => operations.GetTask(context, request)
      return respondWithinBudget(context, await get(), { ...taskResponse(context), reload: get })
    }
    case 'ListTasks': {
      const request = decode(operation, context, encoded)
      const list = (): ReturnType<typeof operations.ListTasks> => operations.ListTasks(context, request)
      return respondWithinBudget(context, await list(), {
        sizeOf: ({ tasks }) => tasks.reduce((sum, task) => sum + taskBytes(task), 0),
        ...jsonEncoder((page) => dialect.writeResult(operation, page)),
        reload: list,
      })
    }
    case 'CancelTask': {
      const request = decode(operation, context, encoded)
      return respondWithinBudget(context, await operations.CancelTask(context, request), {
        ...taskResponse(context),
        reload: reloadTask(context, request.id),
      })
    }
    case 'SendStreamingMessage':
      requireStreaming(registeredAgent)
      requireExtensions(context.extensions, registeredAgent)
      return openStream(context, operation, streamRequestOf(decode(operation, context, encoded)))
    case 'SubscribeToTask':
      requireStreaming(registeredAgent)
      return openStream(context, operation, decode(operation, context, encoded))
    case 'GetExtendedAgentCard':
      return encodePlain(context, operation, encoded)
    case 'CreateTaskPushNotificationConfig':
    case 'GetTaskPushNotificationConfig':
    case 'ListTaskPushNotificationConfigs':
    case 'DeleteTaskPushNotificationConfig':
      requirePush(context)
      return encodePlain(context, operation, encoded)
  }
}

/** For results that are never large. */
async function encodePlain<O extends Operation>(
  context: OperationContext,
  operation: O,
  encoded: EncodedRequest,
): Promise<string> {
  const result = await operations[operation](context, decode(operation, context, encoded))
  return JSON.stringify(context.dialect.writeResult(operation, result as ResultOf<O>))
}

/** The bare task, as GetTask and CancelTask return it. */
function taskResponse({ call, dialect }: OperationContext): Omit<ResponseSource<Task>, 'reload'> {
  const { encodingCache } = call.server
  return {
    sizeOf: taskBytes,
    encode: (task) => encodingCache.task(dialect, task),
    async encodeInSteps(task, nextStep) {
      await encodingCache.prepareTask(dialect, task, nextStep)
      return encodingCache.task(dialect, task)
    },
    cached: (task) => encodingCache.cachedTask(dialect, task),
  }
}

/** A separate function, so that its closure holds no task. */
function reloadTask(context: OperationContext, id: string, historyLength?: number): () => Promise<Task> {
  const request = { id, ...(historyLength !== undefined ? { historyLength } : {}) }
  return () => context.call.server.engine.getTask(request, context)
}

/** Without a cache: for results of which each has one reader. */
function jsonEncoder<Value>(write: (value: Value) => unknown): Pick<ResponseSource<Value>, 'encode' | 'encodeInSteps'> {
  return {
    encode: (value) => encodeChunk(JSON.stringify(write(value))),
    async encodeInSteps(value, nextStep) {
      await nextStep()
      return encodeJsonInSteps(write(value), nextStep)
    },
  }
}

function decode<O extends Operation>(
  operation: O,
  { dialect }: OperationContext,
  encoded: EncodedRequest,
): RequestOf<O> {
  const { payload } = encoded
  encoded.payload = undefined
  return dialect.decodeRequest(operation, payload)
}

/** A stream never returns early, whatever its configuration says or omits (B-65). */
function streamRequestOf(request: SendMessageRequest): SendMessageRequest {
  if (request.configuration?.returnImmediately !== true) return request
  const { returnImmediately: _ignored, ...configuration } = request.configuration
  return { ...request, configuration }
}

function requireStreaming({ entry }: RegisteredAgent): void {
  if (!entry.streaming)
    throw new A2AError('UNSUPPORTED_OPERATION', 'This operation is not supported: the agent does not stream')
}

export function pathNotFound({ id }: ProtocolVersion): A2AError {
  return new A2AError('METHOD_NOT_FOUND', `A2A ${id} has no such path`)
}

/** The stream has begun when this resolves; until then its errors are plain responses (F-7). */
async function openStream<O extends StreamingOperation>(
  context: OperationContext,
  operation: O,
  request: RequestOf<O>,
): Promise<OpenEventStream> {
  const { call, caller, dialect } = context
  const { server, registeredAgent } = call
  const release = server.streamLimits.acquire(caller.limitedAs ?? caller.id, registeredAgent.name)
  try {
    const stream = (await operations[operation](context, request)) as TaskEventStream
    const opened: OpenEventStream = {
      stream: reportFirstEvent(stream, call),
      account: streamAccount(context),
      ...eventEncoderOf(server.encodingCache, dialect, eventDecoratorFor(context.extensions, registeredAgent)),
      onEnd: release,
    }
    return server.onStream === undefined ? opened : endableByOperator(opened, server.onStream, call)
  } catch (reason) {
    release()
    throw reason
  }
}

/** The task that the stream begins with is counted where streams are admitted. */
function streamAccount(context: OperationContext): ReaderAccount {
  const account = context.takeAccount()
  account.setOwnBytes(0)
  return account
}

/** One for all streams of a dialect that no extension decorates, so that an idle stream keeps no closures for it. */
const eventEncoders = new WeakMap<EncodingCache, Map<Dialect, EventEncoder>>()

function eventEncoderOf(cache: EncodingCache, dialect: Dialect, decoration: EventDecorator | undefined): EventEncoder {
  if (decoration !== undefined) return createEventEncoder(cache, dialect, decoration)
  let known = eventEncoders.get(cache)
  if (known === undefined) eventEncoders.set(cache, (known = new Map<Dialect, EventEncoder>()))
  let encoder = known.get(dialect)
  if (encoder === undefined) known.set(dialect, (encoder = createEventEncoder(cache, dialect, undefined)))
  return encoder
}

function createEventEncoder(
  cache: EncodingCache,
  dialect: Dialect,
  decoration: EventDecorator | undefined,
): EventEncoder {
  const eventOf = (item: StreamItem): StreamEvent => (decoration === undefined ? item.event : decoration.decorate(item))
  const encode = (item: StreamItem): EncodedItem => {
    const event = eventOf(item)
    const payload = cache.event(dialect, event)
    if (typeof payload === 'string') return dialect.seal(payload, event, item.final)
    return sealBytes(dialect, payload, event, item.final)
  }
  const isPayload = (event: StreamEvent): boolean => dialect.writesCanonicalEvents === true && isPlainText(event)
  return {
    encode,
    payload(item) {
      const event = eventOf(item)
      return isPayload(event) ? event : (JSON.parse(chunkText(wholeChunk(encode(item)))) as unknown)
    },
    async payloadInSteps(item, nextStep) {
      const event = eventOf(item)
      if (isPayload(event)) return event
      if (cache.cachedEvent(dialect, event) === undefined) await cache.prepareEvent(dialect, event, nextStep)
      const json = wholeChunk(encode(item))
      return parseJsonInSteps(typeof json === 'string' ? json : await decodeTextInSteps(json, nextStep), nextStep)
    },
    cached(item) {
      const payload = cache.cachedEvent(dialect, eventOf(item))
      return typeof payload === 'object' ? payload : undefined
    },
    prepare(item, nextStep) {
      if (!isHeavy(item.bytes ?? 0)) return undefined
      const event = eventOf(item)
      return cache.cachedEvent(dialect, event) === undefined ? cache.prepareEvent(dialect, event, nextStep) : undefined
    },
    encoding: decoration === undefined ? dialect.id : `${dialect.id} ${decoration.key}`,
  }
}

/** How long an ended stream may take to send its last error before the connection is closed. */
const lastErrorMs = 500

/** Wraps the stream so that the operator can end it; without `onStream` it is returned unchanged. */
function endableByOperator(
  opened: OpenEventStream,
  onStream: OnStream,
  call: AuthenticatedServerCall,
): OpenEventStream {
  let source: EndableStream | undefined
  let cut: ReturnType<typeof setTimeout> | undefined
  let isOver = false
  const release = onStream(call, (reason) => {
    if (isOver) return
    source?.end(reason)
    // A client that reads nothing would otherwise hold the stream open until its stall timeout. Not canceled when the source has
    // ended: the last error may still wait behind unread data.
    cut ??= setTimeout(() => call.request.disconnect?.(), lastErrorMs)
  })
  if (release === undefined) return opened
  const made = (source = endableStream(opened.stream))
  return {
    ...opened,
    stream: made.stream,
    check: made.check,
    onEnd() {
      isOver = true
      release()
      opened.onEnd()
    },
  }
}

/**
 * Whether an event is its own JSON value, as nearly all are in a stream of text. Metadata and data of an agent may hold anything
 * that JSON.stringify converts, such as a Date.
 */
function isPlainText(event: StreamEvent): boolean {
  if ('artifactUpdate' in event) {
    const { artifact, metadata } = event.artifactUpdate
    if (metadata !== undefined || artifact.metadata !== undefined) return false
    return artifact.parts.every((part) => 'text' in part && part.metadata === undefined)
  }
  if (!('statusUpdate' in event)) return false
  return event.statusUpdate.metadata === undefined && event.statusUpdate.status.message === undefined
}

/** The last two characters of JSON are always ASCII. */
function sealBytes(dialect: Dialect, bytes: Uint8Array, event: StreamEvent, final: boolean): SealedBytes {
  if (dialect.sealsWhole === true) {
    const whole = new TextEncoder().encode(dialect.seal(chunkText(bytes), event, final))
    return { bytes: whole, end: whole.length, suffix: '' }
  }
  const end = bytes.length - 2
  return { bytes, end, suffix: dialect.seal(String.fromCharCode(...bytes.subarray(end)), event, final) }
}

/** Returns the same stream; the call is reported with its first event, which names the task. */
export function reportFirstEvent(stream: TaskEventStream, call: ServerCall): TaskEventStream {
  if (call.isReported) return stream
  return { [Symbol.asyncIterator]: () => new ReportedReader(stream, call) }
}

class ReportedReader implements Pollable<readonly StreamItem[]> {
  readonly #source: Pollable<readonly StreamItem[]>
  /** Released with the report: a stream may be open for hours. */
  #call: ServerCall | undefined

  constructor(stream: TaskEventStream, call: ServerCall) {
    this.#source = toPollable(stream[Symbol.asyncIterator]())
    this.#call = call
  }

  poll(ready: () => void): IteratorResult<readonly StreamItem[], undefined> | undefined {
    const call = this.#call
    if (call === undefined) return this.#source.poll(ready)
    try {
      const result = this.#source.poll(ready)
      const item: StreamItem | undefined = result === undefined || result.done === true ? undefined : result.value[0]
      if (item !== undefined) call.taskId = taskIdIn(item.event) ?? call.taskId
      if (item !== undefined || result?.done === true) this.#report('OK')
      return result
    } catch (reason) {
      this.#report(A2AError.from(reason).code)
      throw reason
    }
  }

  next(): Promise<IteratorResult<readonly StreamItem[], undefined>> {
    return this.#call === undefined ? this.#source.next() : nextOf(this)
  }

  return(): Promise<IteratorResult<readonly StreamItem[], undefined>> {
    this.#report('OK')
    return this.#source.return()
  }

  #report(outcome: 'OK' | ErrorCode): void {
    const call = this.#call
    this.#call = undefined
    call?.report(outcome, 200)
  }
}

/** A direct message may name its task. */
function taskIdIn(event: StreamEvent): string | undefined {
  return 'message' in event ? event.message.taskId : taskIdOfEvent(event)
}
