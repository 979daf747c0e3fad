/** Single answers: a short one at once, a large one when its reader's caller and the server may hold it. */
import type { Chunk } from '../bindings/http.ts'
import { heavyStep, isHeavy } from '../model/heavy-step.ts'
import { largeChars, textOf } from './slices.ts'
import type { ReaderAccount } from './unsent-bytes.ts'

export interface LargeAnswer {
  readonly bytes: Uint8Array
  /** To be closed when the bytes were taken, or nobody is left to take them. */
  readonly account: ReaderAccount
}

export interface AnswerParts<Value> {
  sizeOf(value: Value): number
  encode(value: Value): Chunk
  /** What `encode` would answer with, if it was made before. */
  known?(value: Value): Chunk | undefined
  /** Asks for the value once more. */
  again(): Promise<Value>
}

export interface AnswerReader {
  open(): ReaderAccount
  /** Aborts when the reader has left. */
  signal(): AbortSignal
  /** Whether the binding copies an answer for each reader. */
  readonly isCopied: boolean
}

/**
 * The answer with a value; one that is large is encoded when there is room for it. Meanwhile nothing of it is held: what a
 * function refers to while it waits stays in memory, so the value is let go of and asked for again.
 */
export async function answerWhenRoom<Value extends object>(
  reader: AnswerReader,
  value: Value | undefined,
  answer: AnswerParts<Value>,
): Promise<string | LargeAnswer> {
  let account: ReaderAccount | undefined
  try {
    for (;;) {
      value ??= await answer.again()
      if (isSmall(value, answer)) {
        account?.close()
        return textOf(answer.encode(value))
      }
      account ??= reader.open()
      const signal = reader.signal()
      if (signal.aborted || mayHold(account, value, answer, reader)) {
        if (answer.known?.(value) === undefined) await stepFor(account, answer.sizeOf(value))
        return largeAnswer(answer.encode(value), account, reader)
      }
      value = undefined
      await account.room(signal)
    }
  } catch (reason) {
    account?.close()
    throw reason
  }
}

/** What is read from the store is encoded in another step, and counts while it waits for that. */
async function stepFor(account: ReaderAccount, size: number): Promise<void> {
  if (!isHeavy(size)) return
  account.setOwn(size)
  await heavyStep()
  account.setOwn(0)
}

function isSmall<Value>(value: Value, { known, sizeOf }: AnswerParts<Value>): boolean {
  const made = known?.(value)
  return made === undefined ? sizeOf(value) <= largeChars : typeof made === 'string'
}

/** Bytes that others hold already cost nothing, unless they are copied. */
function mayHold<Value>(
  account: ReaderAccount,
  value: Value,
  { known }: AnswerParts<Value>,
  { isCopied }: AnswerReader,
): boolean {
  const made = isCopied ? undefined : known?.(value)
  return account.mayHold(typeof made === 'object' ? made : undefined)
}

function largeAnswer(chunk: Chunk, account: ReaderAccount, { isCopied }: AnswerReader): string | LargeAnswer {
  if (typeof chunk !== 'string') {
    if (isCopied) account.setOwn(chunk.length)
    else account.hold(chunk, chunk.length)
    return { bytes: chunk, account }
  }
  account.close()
  return chunk
}
