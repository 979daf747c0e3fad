/** Single responses: a short one is sent at once, a large one when the budgets of its caller and of the server permit it. */
import type { Chunk } from '../../bindings/http.ts'
import { isHeavy, type NextStep } from '../../model/heavy-step.ts'
import { largeChars, chunkText } from './encoding-cache.ts'
import type { ReaderAccount } from './unsent-bytes.ts'

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
