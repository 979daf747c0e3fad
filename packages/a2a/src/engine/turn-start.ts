/**
 * The start of a turn in the log. With `openAfterMs: 0` the agent is called only once it is durable: after a crash before
 * that, the agent has not run, and a message that is sent again runs it once. A turn that is run again after a crash always
 * waits: its attempt is counted before the agent is called, so no two processes run the same attempt.
 */
import { isTerminal } from '../model/state.ts'
import * as steps from './steps.ts'
import type { ActiveTurnParts, TurnInput } from './turn-input.ts'

/** Returns a promise that settles with the append, where the agent is to wait for it. */
export function writeStart(parts: ActiveTurnParts, input: TurnInput, working: boolean): Promise<unknown> | undefined {
  const { live, opening, entry } = parts
  const { options } = entry
  const isAwaited = options.openAfterMs <= 0 || input.attempt > 1
  if (input.opening === undefined) {
    const start = steps.startTurn(input, input.consumedSeq, options)
    if (isAwaited) return live.write(start)
    live.post(start, 200)
    return undefined
  }
  const written = live.write(steps.open(input.message, input.options, input.opening.idempotency, options, working))
  written.then((seq) => opening.resolve({ submittedSeq: (seq as number) + 1 }), opening.reject)
  return isAwaited ? written : undefined
}

/** Whether to call the agent: the start of its turn is durable, and the task has not ended meanwhile. */
export async function hasStarted(written: Promise<unknown>, { live, orStop, isStopped }: ActiveTurnParts) {
  try {
    await orStop(written)
  } catch {
    // A duplicate, or the store cannot be written: the sender gets the error, and the agent is not called.
    return false
  }
  return !isStopped() && !isTerminal(live.fold.status.state)
}
