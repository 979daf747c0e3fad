/**
 * Writes the start of a turn to the log. With `openAfterMs: 0` the agent is called only once the start is durable: after a crash
 * before that, the agent has not run, and a repeated message runs it once. A turn repeated after a crash always waits: its attempt
 * is counted before the agent is called, so no two processes run the same attempt.
 */
import { isTerminal } from '../../model/state.ts'
import * as intents from '../task/task-intents.ts'
import type { TurnRunnerDeps, TurnInput } from './turn-input.ts'

/** Returns a promise that settles with the append, if the agent must wait for it. */
export function writeTurnStart(deps: TurnRunnerDeps, input: TurnInput, working: boolean): Promise<unknown> | undefined {
  const { loaded, opening, entry } = deps
  const { options } = entry
  const isAwaited = options.openAfterMs <= 0 || input.attempt > 1
  if (input.opening === undefined) {
    const start = intents.startTurn(input, input.consumedSeq, options)
    if (isAwaited) return loaded.write(start)
    loaded.post(start, 200)
    return undefined
  }
  const written = loaded.write(
    intents.openTask(input.message, input.options, input.opening.idempotency, options, working),
  )
  written.then((seq) => opening.resolve({ submittedSeq: (seq as number) + 1 }), opening.reject)
  return isAwaited ? written : undefined
}

/** Whether to call the agent: the start of its turn is durable, and the task has not ended meanwhile. */
export async function isStartDurable(written: Promise<unknown>, { loaded, untilStopped, isStopped }: TurnRunnerDeps) {
  try {
    await untilStopped(written)
  } catch {
    // A duplicate, or the store cannot be written: the sender gets the error, and the agent is not called.
    return false
  }
  return !isStopped() && !isTerminal(loaded.fold.status.state)
}
