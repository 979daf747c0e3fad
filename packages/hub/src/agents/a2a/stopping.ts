/**
 * How a turn is stopped. What the caller gave up, or what took too long, is canceled with the remote agent too; a hub that
 * goes down only hangs up, because the work is picked up again. Canceling goes on when the turn is already over.
 */
import { A2AError } from '@parley/a2a'
import type { Turn } from '@parley/a2a'
import type { CallOptions, RemoteAgent } from '@parley/a2a/client'
import { within } from './pause.ts'

export interface Stopping {
  /** Aborted when nothing is wanted any more of what the remote agent says. */
  readonly signal: AbortSignal
  /** From now on it is known what would have to be canceled. */
  found(remote: RemoteAgent, taskId: string, options: CallOptions): void
  /** The turn is over. */
  over(): void
}

/** For the remote agent to name its task, to cancel it, and to say its last words. */
const graceMs = 5_000
/** Those of a task that was canceled are on their way. */
const lastWordsMs = 500

/** Where work goes on that no turn waits for any more, as long as the agent is open. */
export interface Background {
  add(work: Promise<void>): void
  readonly signal: AbortSignal
}

export function watchStop(turn: Turn, background: Background): Stopping {
  const leaving = new AbortController()
  const known = Promise.withResolvers<(() => Promise<unknown>) | undefined>()
  const ended = Promise.withResolvers<void>()
  const stop = (): void => {
    if (isGivenUp(turn.signal)) background.add(giveUp())
    else leaving.abort(turn.signal.reason)
  }
  if (turn.signal.aborted) stop()
  else turn.signal.addEventListener('abort', stop, { once: true })

  return {
    signal: leaving.signal,
    found(remote, taskId, options) {
      known.resolve(() => remote.cancel(taskId, { ...options, signal: background.signal, timeoutMs: graceMs }))
    },
    over() {
      turn.signal.removeEventListener('abort', stop)
      known.resolve(undefined)
      ended.resolve()
      leaving.abort()
    },
  }

  async function giveUp(): Promise<void> {
    const cancel = await within(known.promise, graceMs)
    try {
      await cancel?.()
      if (cancel !== undefined) await within(ended.promise, lastWordsMs)
    } catch (reason) {
      turn.log.info('the remote agent did not cancel its task', { taskId: turn.task.id, cause: reason })
      // It may have ended first, and then that is what is to be told.
      if (reason instanceof A2AError && reason.code === 'TASK_NOT_CANCELABLE') await within(ended.promise, graceMs)
    }
    leaving.abort(turn.signal.reason)
  }
}

/** By the caller or by the clock, and not because this process has to go. */
function isGivenUp({ reason }: AbortSignal): boolean {
  return reason instanceof A2AError && (reason.code === 'UNSUPPORTED_OPERATION' || reason.code === 'TIMEOUT')
}
