/**
 * The waiters for log changes within this process. Every store can use it: a store that serves several processes wakes its waiters
 * when it learns of a change made by another process.
 */
export function createChangeWaiters() {
  const waiting = new Map<string, Set<() => void>>()

  function wake(taskId: string): void {
    const woken = waiting.get(taskId)
    if (woken === undefined) return
    waiting.delete(taskId)
    for (const resume of woken) resume()
  }

  return {
    /** Resolves at the next `wake` of this task, at `wakeAll`, or when the signal aborts. */
    wait(taskId: string, signal: AbortSignal): Promise<void> {
      if (signal.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const resume = (): void => {
          signal.removeEventListener('abort', giveUp)
          resolve()
        }
        const giveUp = (): void => {
          const others = waiting.get(taskId)
          others?.delete(resume)
          if (others?.size === 0) waiting.delete(taskId)
          resolve()
        }
        const others = waiting.get(taskId)
        if (others === undefined) waiting.set(taskId, new Set([resume]))
        else others.add(resume)
        signal.addEventListener('abort', giveUp, { once: true })
      })
    },
    wake,
    wakeAll(): void {
      for (const taskId of [...waiting.keys()]) wake(taskId)
    },
    /** The number of tasks with waiters. */
    get size(): number {
      return waiting.size
    },
    ids: (): Iterable<string> => waiting.keys(),
  }
}
