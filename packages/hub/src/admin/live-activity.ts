/** What the admin API learns from the listeners of the server: that tasks and webhooks changed. */
import type { HubListeners } from '../telemetry/telemetry.ts'
import type { ChangeJournal } from './change-journal.ts'

export interface LiveActivity {
  readonly changeSignal: ChangeSignal
  readonly journal: Pick<ChangeJournal, 'record'>
}

/** Adds the listeners of the admin API after the given ones. */
export function withActivityListeners(
  { onOutcome, onEvent, push }: HubListeners,
  { changeSignal, journal }: LiveActivity,
): HubListeners {
  return {
    onOutcome,
    onEvent(event, about) {
      changeSignal.notify()
      return onEvent(event, about)
    },
    ...(push === undefined
      ? {}
      : {
          push: {
            ...push,
            onResult(result) {
              push.onResult?.(result)
              journal.record({ type: 'push', taskId: result.taskId, configId: result.configId })
            },
          },
        }),
  }
}

/** Wakes waiting readers. Signals are counted, so that one that arrives while no reader waits is not lost. */

export interface ChangeSignal {
  notify(): void
  count(): number
  /** Resolves once the count exceeds `seen`, after `ms`, or when the signal aborts. */
  wait(seen: number, ms: number, signal: AbortSignal): Promise<void>
}

export function createChangeSignal(): ChangeSignal {
  let count = 0
  let waiting = new Set<() => void>()
  return {
    notify() {
      count += 1
      const waiters = waiting
      waiting = new Set()
      for (const wake of waiters) wake()
    },
    count: () => count,
    wait(seen, ms, signal) {
      if (count > seen || signal.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const timer = setTimeout(done, ms).unref()
        signal.addEventListener('abort', done, { once: true })
        waiting.add(done)
        function done(): void {
          clearTimeout(timer)
          waiting.delete(done)
          signal.removeEventListener('abort', done)
          resolve()
        }
      })
    },
  }
}
