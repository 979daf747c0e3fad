/** Responses of endpoints beside those of the protocol: their large tasks are counted and read as for a client of A2A. */
import { isHeavy, type NextStep } from '../../model/heavy-step.ts'
import { encodeJsonInSteps } from '../../model/json-steps.ts'
import { A2AError } from '../../model/error.ts'
import type { CallContext } from '../../engine/contract.ts'
import type { ReaderAccount, UnsentBytes } from './reader-limits.ts'

/** For whom something large is read. */
export type LargeReader = Required<Pick<CallContext, 'admitRead'>>

/** What one part of a response holds, such as the result of one of its calls: the value that was read last. */
export interface ResponsePart {
  /**
   * Reads a value that may be large, once there is room for it and in turn with other callers. Pass the reader on to what reads the
   * store. A value that was in memory is read again: while it waits for room, nothing holds it. Rejects with UNAVAILABLE if there is
   * no room beside the other parts of the response.
   */
  read<Value>(read: (reader: LargeReader) => Promise<Value>, bytesOf: (value: Value) => number): Promise<Value>
}

/** The memory of one response. It counts against `unsentBytes` and `unsentBytesPerCaller` until it is released. */
export interface ResponseMemory extends ResponsePart {
  /** Another part of the response. All are released together. */
  part(): ResponsePart
  /** The JSON of the response in UTF-8; of a large one, written in steps. */
  encode(value: unknown): Promise<Uint8Array>
  /** Call it when the client has the response, or has gone. */
  release(): void
}

/** `signal` aborts when the client disconnects. */
export function openResponseMemory(unsent: UnsentBytes, caller: string, signal: AbortSignal): ResponseMemory {
  let account: ReaderAccount | undefined
  let bytesHeld = 0
  let isReleased = false

  function part(): ResponsePart {
    let own = 0

    /** A part waits for room only if it is the first: a response that waited while it holds others might wait forever. */
    async function admit(bytes: number): Promise<NextStep> {
      const ofResponse = (account ??= unsent.open(caller))
      const isOnly = bytesHeld === own
      if (!isOnly && !ofResponse.canHold())
        throw new A2AError('UNAVAILABLE', 'The response has too many large parts: request them one at a time')
      bytesHeld += bytes - own
      own = bytes
      try {
        return await ofResponse.admitRead(bytesHeld, signal, isOnly)
      } finally {
        if (isReleased) ofResponse.close()
      }
    }

    return {
      async read(read, bytesOf) {
        let nextStep: NextStep | undefined
        const reader: LargeReader = { admitRead: async (bytes) => (nextStep ??= await admit(bytes)) }
        let value: Awaited<ReturnType<typeof read>> | undefined = await read(reader)
        if (nextStep === undefined) {
          const bytes = bytesOf(value)
          if (!isHeavy(bytes)) return value
          value = undefined
          nextStep = await admit(bytes)
          value = await read(reader)
        }
        await nextStep()
        return value
      },
    }
  }

  return {
    ...part(),
    part,
    async encode(value) {
      if (account === undefined) return new TextEncoder().encode(JSON.stringify(value))
      const nextStep = account.stepsWhilePresent(signal)
      await nextStep()
      const bytes = await encodeJsonInSteps(value, nextStep)
      account.setOwnBytes(bytes.length)
      return bytes
    },
    release() {
      isReleased = true
      account?.close()
    },
  }
}
