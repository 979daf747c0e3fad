/** Single responses: a short one is sent at once, a large one when the budgets of its caller and of the server permit it. */
import type { Chunk } from '../../bindings/http.ts'
import { heavyStep, isHeavy } from '../../model/heavy-step.ts'
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
  /** The result of `encode`, if it is cached. */
  cached?(value: Value): Chunk | undefined
  /** Loads the value again. */
  reload(): Promise<Value>
}

export interface ResponseReader {
  openAccount(): ReaderAccount
  /** Aborts when the reader disconnects. */
  signal(): AbortSignal
  /** Whether the binding copies a response for each reader. */
  readonly isCopied: boolean
}

/** Encodes a response; a large one waits until the budget has room. A short one, as nearly all are, takes no promise. */
export function respondWithinBudget<Value extends object>(
  reader: ResponseReader,
  value: Value,
  answer: ResponseSource<Value>,
): string | Promise<string | LargeResponse> {
  return isSmall(value, answer) ? chunkText(answer.encode(value)) : respondWhenRoom(reader, value, answer)
}

/** While it waits it holds nothing: a waiting function keeps its variables in memory, so the value is released and loaded again. */
async function respondWhenRoom<Value extends object>(
  reader: ResponseReader,
  value: Value | undefined,
  answer: ResponseSource<Value>,
): Promise<string | LargeResponse> {
  let account: ReaderAccount | undefined
  try {
    for (;;) {
      value ??= await answer.reload()
      if (isSmall(value, answer)) {
        account?.close()
        return chunkText(answer.encode(value))
      }
      account ??= reader.openAccount()
      const signal = reader.signal()
      if (signal.aborted || canHold(account, value, answer, reader)) {
        if (answer.cached?.(value) === undefined) await waitForHeavyStep(account, answer.sizeOf(value))
        return toLargeResponse(answer.encode(value), account, reader)
      }
      value = undefined
      await account.waitForRoom(signal)
    }
  } catch (reason) {
    account?.close()
    throw reason
  }
}

/** A value from the store is encoded in a separate step, and counts while it waits for that. */
async function waitForHeavyStep(account: ReaderAccount, size: number): Promise<void> {
  if (!isHeavy(size)) return
  account.setOwnBytes(size)
  await heavyStep()
  account.setOwnBytes(0)
}

function isSmall<Value>(value: Value, { cached, sizeOf }: ResponseSource<Value>): boolean {
  const made = cached?.(value)
  return made === undefined ? sizeOf(value) <= largeChars : typeof made === 'string'
}

/** Bytes that other readers already hold cost nothing, unless they are copied. */
function canHold<Value>(
  account: ReaderAccount,
  value: Value,
  { cached }: ResponseSource<Value>,
  { isCopied }: ResponseReader,
): boolean {
  const made = isCopied ? undefined : cached?.(value)
  return account.canHold(typeof made === 'object' ? made : undefined)
}

function toLargeResponse(chunk: Chunk, account: ReaderAccount, { isCopied }: ResponseReader): string | LargeResponse {
  if (typeof chunk !== 'string') {
    if (isCopied) account.setOwnBytes(chunk.length)
    else account.hold(chunk, chunk.length)
    return { bytes: chunk, account }
  }
  account.close()
  return chunk
}
