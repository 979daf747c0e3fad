/** Decodes the payload of a call from a binding, performs its operation, and encodes the result in the dialect of the call. */
import type { TaskEventStream } from '../../engine/contract.ts'
import { A2AError } from '../../model/error.ts'
import { heavyStep, isHeavy, isMarkedLarge, type NextStep } from '../../model/heavy-step.ts'
import { encodeJsonInSteps } from '../../model/json-steps.ts'
import { recordBytes, taskBytes } from '../../model/json-nodes.ts'
import type { Operation, RequestOf, ResultOf, SendMessageRequest } from '../../model/operation.ts'
import type { Task } from '../../model/task.ts'
import type { ProtocolVersion } from '../../versions/index.ts'
import { eventDecoratorFor, requireExtensions } from '../extensions/apply-extensions.ts'
import { chunkText, encodeChunk, largeChars } from '../streaming/encoding-cache.ts'
import type { EventReader, OpenEvents } from '../streaming/event-stream.ts'
import type { ReaderAccount } from '../streaming/reader-limits.ts'
import { type OperationContext, operations, requirePush, type StreamingOperation } from './operations.ts'
import type { Chunk } from '../../bindings/http.ts'

/** A request whose payload is not decoded yet. */
export interface EncodedRequest {
  readonly operation: Operation
  /** Released when it is decoded: a call may wait for its agent for hours. */
  payload: unknown
}

/** Creates the reader of an event stream that has begun. */
export type OpenReader<Reader extends EventReader> = (events: OpenEvents) => Reader

/** Returns a JSON text, a large response whose bytes are counted, or what `openReader` makes of an event stream. */
export async function performOperation<Reader extends EventReader>(
  context: OperationContext,
  request: EncodedRequest,
  openReader: OpenReader<Reader>,
): Promise<string | LargeResponse | Reader> {
  try {
    return await perform(context, request, openReader)
  } finally {
    context.closeAccount()
  }
}

async function perform<Reader extends EventReader>(
  context: OperationContext,
  encoded: EncodedRequest,
  openReader: OpenReader<Reader>,
): Promise<string | LargeResponse | Reader> {
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
      requireExtensions(context.extensions, registeredAgent)
      return openStream(context, operation, streamRequestOf(decode(operation, context, encoded)), openReader)
    case 'SubscribeToTask':
      return openStream(context, operation, decode(operation, context, encoded), openReader)
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

export function pathNotFound({ id }: ProtocolVersion): A2AError {
  return new A2AError('METHOD_NOT_FOUND', `A2A ${id} has no such path`)
}

/** How long an ended stream may take to send its last error before the connection is closed. */
const lastErrorMs = 500

/** The stream has begun when this resolves; until then its errors are plain responses (F-7). */
async function openStream<O extends StreamingOperation, Reader extends EventReader>(
  context: OperationContext,
  operation: O,
  request: RequestOf<O>,
  openReader: OpenReader<Reader>,
): Promise<Reader> {
  const { call, caller, dialect } = context
  const { server, registeredAgent } = call
  const release = server.streamLimits.acquire(caller.limitedAs ?? caller.id, registeredAgent.name)
  let forget: (() => void) | undefined
  const onClose = (): void => {
    forget?.()
    release()
  }
  try {
    const stream = (await operations[operation](context, request)) as TaskEventStream
    const encoder = server.encodingCache.eventEncoder(dialect, eventDecoratorFor(context.extensions, registeredAgent))
    const reader = openReader({ call, stream, account: streamAccount(context), encoder, onClose })
    forget = server.onStream?.(call, (reason) => {
      if (!reader.end(reason)) return
      // A client that reads nothing would otherwise hold the stream open until its stall timeout. Not canceled when the stream has
      // ended: the last error may still wait behind unread data.
      setTimeout(() => call.request.disconnect?.(), lastErrorMs)
    })
    return reader
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

// Single responses: a short one is sent at once, a large one when the budgets of its caller and of the server permit it.

export interface LargeResponse {
  readonly bytes: Uint8Array
  /** Closed when the client has taken the bytes or has disconnected. */
  readonly account: ReaderAccount
}

export interface ResponseSource<Value> {
  sizeOf(value: Value): number
  encode(value: Value): Chunk
  /** Encodes a value that would hold the event loop for too long. */
  encodeInSteps(value: Value, nextStep: NextStep): Promise<Chunk>
  /** The encoded value, if it is cached. */
  cached?(value: Value): Chunk | undefined
  /** Returns the value again. If it reads the store, it reserves the memory in the account of the reader first. */
  reload(): Promise<Value>
}

export interface ResponseReader {
  /** What the reader holds. Memory that is reserved in it is that of the value. */
  readonly account: ReaderAccount
  /** The account now belongs to the response. */
  takeAccount(): ReaderAccount
  /** Aborts when the reader disconnects. */
  readonly signal: AbortSignal
  /** Whether the binding copies a response for each reader. */
  readonly isCopied: boolean
}

/** Encodes a response; a large one waits until the budget has room. A short one, as nearly all are, takes no promise. */
export function respondWithinBudget<Value extends object>(
  reader: ResponseReader,
  value: Value,
  source: ResponseSource<Value>,
): string | Promise<string | LargeResponse> {
  return isSmall(value, source) ? chunkText(source.encode(value)) : respondWhenRoom(reader, value, source)
}

/**
 * A value that was read from the store has its memory reserved. For one that was in memory the reader may have to wait, and holds
 * nothing meanwhile: a waiting function keeps its variables in memory, so the value is released and requested again.
 */
async function respondWhenRoom<Value extends object>(
  reader: ResponseReader,
  value: Value | undefined,
  source: ResponseSource<Value>,
): Promise<string | LargeResponse> {
  const { account, signal } = reader
  for (;;) {
    value ??= await source.reload()
    if (isSmall(value, source)) return chunkText(source.encode(value))
    if (account.holdsOwnBytes || canHold(value, source, reader)) {
      return toLargeResponse(await encodeWhole(value, source, reader), reader)
    }
    const size = source.sizeOf(value)
    value = undefined
    // Reserved, or others would take the room while the value is read, and it would be read once more.
    await account.reserve(size, signal)
  }
}

/** Counts the value while it is encoded. */
async function encodeWhole<Value>(
  value: Value,
  source: ResponseSource<Value>,
  { account, signal }: ResponseReader,
): Promise<Chunk> {
  const known = source.cached?.(value)
  if (known !== undefined) return known
  const size = source.sizeOf(value)
  if (!isHeavy(size)) return source.encode(value)
  account.setOwnBytes(size)
  return source.encodeInSteps(value, account.stepsWhilePresent(signal))
}

function isSmall<Value>(value: Value, { cached, sizeOf }: ResponseSource<Value>): boolean {
  const known = cached?.(value)
  return known === undefined ? sizeOf(value) <= largeChars : typeof known === 'string'
}

/** Bytes that other readers already hold cost nothing, unless they are copied. */
function canHold<Value>(
  value: Value,
  { cached }: ResponseSource<Value>,
  { account, isCopied }: ResponseReader,
): boolean {
  const known = isCopied ? undefined : cached?.(value)
  return account.canHold(typeof known === 'object' ? known : undefined)
}

function toLargeResponse(chunk: Chunk, reader: ResponseReader): string | LargeResponse {
  if (typeof chunk === 'string') return chunk
  const account = reader.takeAccount()
  if (reader.isCopied) account.setOwnBytes(chunk.length)
  else {
    account.hold(chunk, chunk.length)
    account.setOwnBytes(0)
  }
  return { bytes: chunk, account }
}
