/**
 * Runs one turn at a time in a session. The gateway queues runs itself, but a `chat.send` during another run is steered
 * into that run, and its answer becomes part of the other one.
 */
import { abortable } from '@parley/a2a'

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
        if (before !== undefined) await abortable(signal, before)
      } catch (reason) {
        ownTurn.resolve()
        throw reason
      }
      return ownTurn.resolve
    },
  }
}
