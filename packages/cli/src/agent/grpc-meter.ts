/** Counts what an agent sends over gRPC, for `--max-answer`. Loads with the binding. */
import { InterceptingCall, status, type Interceptor } from '@grpc/grpc-js'
import type { AnswerLimit } from './answer-limit.ts'

/** Ends a call above the limit as the library ends one whose message is too large. */
export function countReceived(limit: AnswerLimit): Interceptor {
  return (options, nextCall) => {
    const count = limit.createMeter(options.method_definition.responseStream)
    const call = new InterceptingCall(nextCall(options), {
      start(metadata, _, next) {
        next(metadata, {
          onReceiveMessage(message: Uint8Array, deliver) {
            try {
              count(message.byteLength)
            } catch {
              call.cancelWithStatus(status.RESOURCE_EXHAUSTED, 'The answer is larger than --max-answer')
            }
            // The status comes only after the message.
            deliver(message)
          },
        })
      },
    })
    return call
  }
}
