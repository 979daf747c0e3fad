/**
 * Runs one turn at a time in a session. The gateway queues runs itself, but a `chat.send` during another run is steered
 * into that run, and its answer becomes part of the other one.
 */
export interface SessionLocks {
  /** Resolves when the session is free, with a function that releases it. */
  acquire(sessionKey: string, signal: AbortSignal): Promise<() => void>
}

export function createSessionLocks(): SessionLocks {
  /** The end of the last turn that runs or waits. */
  const queueTails = new Map<string, Promise<void>>()

  return {
    async acquire(sessionKey, signal) {
      const before = queueTails.get(sessionKey)
      const ownTurn = Promise.withResolvers<void>()
      const end = before === undefined ? ownTurn.promise : before.then(() => ownTurn.promise)
      queueTails.set(sessionKey, end)
      void end.then(() => {
        if (queueTails.get(sessionKey) === end) queueTails.delete(sessionKey)
      })
      try {
        if (before !== undefined) await orAbort(before, signal)
      } catch (reason) {
        ownTurn.resolve()
        throw reason
      }
      return ownTurn.resolve
    },
  }
}

function orAbort(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    void promise.then(() => {
      signal.removeEventListener('abort', abort)
      resolve()
    })
  })
}
