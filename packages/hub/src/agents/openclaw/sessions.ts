/**
 * One turn at a time in a session. The gateway queues runs by itself, but a message by `chat.send` that finds one under
 * way is steered into it, and its answer is then in the other's.
 */
export interface Sessions {
  /** Resolves when the session is free, with what frees it again. */
  enter(sessionKey: string, signal: AbortSignal): Promise<() => void>
}

export function createSessions(): Sessions {
  /** The end of the last turn that was let in, or waits. */
  const ends = new Map<string, Promise<void>>()

  return {
    async enter(sessionKey, signal) {
      const before = ends.get(sessionKey)
      const own = Promise.withResolvers<void>()
      const end = before === undefined ? own.promise : before.then(() => own.promise)
      ends.set(sessionKey, end)
      void end.then(() => {
        if (ends.get(sessionKey) === end) ends.delete(sessionKey)
      })
      try {
        if (before !== undefined) await orAbort(before, signal)
      } catch (reason) {
        own.resolve()
        throw reason
      }
      return own.resolve
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
