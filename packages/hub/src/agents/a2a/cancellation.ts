/**
 * Stops a turn. If the caller canceled the task or it timed out, the remote task is canceled too. If the hub shuts down, it
 * only disconnects, because the turn resumes later. Cancellation may continue after the turn has ended.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { A2AError, type Turn } from '@parley/a2a'
import type { CallOptions, RemoteAgent } from '@parley/a2a/client'

export interface TurnCancellation {
  /** Aborted when events of the remote agent are no longer needed. */
  readonly signal: AbortSignal
  /** Sets the remote task to cancel. */
  setRemoteTask(remote: RemoteAgent, taskId: string, options: CallOptions): void
  /** Marks the turn as ended. */
  end(): void
}

/** Time for the remote agent to name its task, to cancel it, and to send its final events. */
const graceMs = 5_000
/** Time to wait for the final events of a canceled task. */
const finalEventsMs = 500

export function watchCancellation(turn: Turn, background: BackgroundWork): TurnCancellation {
  const stopReading = new AbortController()
  const known = Promise.withResolvers<(() => Promise<unknown>) | undefined>()
  const ended = Promise.withResolvers<void>()
  const stop = (): void => {
    if (isCanceledOrTimedOut(turn.signal)) background.add(cancelRemoteTask())
    else stopReading.abort(turn.signal.reason)
  }
  if (turn.signal.aborted) stop()
  else turn.signal.addEventListener('abort', stop, { once: true })

  return {
    signal: stopReading.signal,
    setRemoteTask(remote, taskId, options) {
      known.resolve(() => remote.cancel(taskId, { ...options, signal: background.signal, timeoutMs: graceMs }))
    },
    end() {
      turn.signal.removeEventListener('abort', stop)
      known.resolve(undefined)
      ended.resolve()
      stopReading.abort()
    },
  }

  async function cancelRemoteTask(): Promise<void> {
    const cancel = await resultWithin(known.promise, graceMs)
    try {
      await cancel?.()
      if (cancel !== undefined) await resultWithin(ended.promise, finalEventsMs)
    } catch (reason) {
      turn.log.info('the remote agent did not cancel its task', { taskId: turn.task.id, cause: reason })
      // The remote task may have ended first. Then its result is reported instead.
      if (reason instanceof A2AError && reason.code === 'TASK_NOT_CANCELABLE')
        await resultWithin(ended.promise, graceMs)
    }
    stopReading.abort(turn.signal.reason)
  }
}

/** True if the caller canceled or the turn timed out; false if this process is shutting down. */
function isCanceledOrTimedOut({ reason }: AbortSignal): boolean {
  return reason instanceof A2AError && (reason.code === 'CANCELED' || reason.code === 'TIMEOUT')
}

/** Work that continues after its turn has ended, such as canceling a remote task. */
export interface BackgroundWork {
  add(work: Promise<void>): void
  readonly signal: AbortSignal
  /** Waits a short time for the work, then aborts it. */
  close(): Promise<void>
}

/** A remote agent that does not answer must not block the shutdown of the hub. */
const closeGraceMs = 1_000

export function createBackgroundWork(): BackgroundWork {
  const closing = new AbortController()
  const working = new Set<Promise<void>>()
  return {
    signal: closing.signal,
    add(work) {
      working.add(work)
      void work.finally(() => working.delete(work))
    },
    async close() {
      await resultWithin(Promise.all(working), closeGraceMs)
      closing.abort(new Error('the agent is being closed'))
      await Promise.all(working)
    },
  }
}

/** Never rejects: callers check the signal themselves. */
export async function delay(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {})
}

/** Resolves to the result, or to undefined after `ms`. */
export async function resultWithin<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  const timeout = new AbortController()
  try {
    return await Promise.race([promise, sleep(ms, undefined, { signal: timeout.signal })])
  } finally {
    timeout.abort()
  }
}
