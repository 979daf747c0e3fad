/**
 * Runs deliveries to many hosts, with a limit overall and per host: a slow host has its own queue and fills only that. After a
 * failure a host gets one delivery at a time until it responds again, so that hanging hosts use few of the shared places.
 */

export interface HostQueuesOptions {
  /** Concurrent deliveries to all hosts. */
  readonly concurrent: number
  /** Concurrent deliveries to one host. */
  readonly concurrentPerHost: number
  /** How many deliveries may wait for one host. */
  readonly waitingPerHost: number
}

export interface HostQueues {
  /**
   * Runs `work` when there is a free place. `work` resolves with whether it succeeded, and does not reject. Returns false if the
   * queue is full.
   */
  add(host: string, work: () => Promise<boolean>): boolean
  readonly waiting: number
  /** Accepts nothing more. Resolves when all accepted work is done. */
  drain(): Promise<void>
}

interface HostQueue {
  readonly queue: (() => Promise<boolean>)[]
  running: number
  isFailing: boolean
}

export function createHostQueues({ concurrent, concurrentPerHost, waitingPerHost }: HostQueuesOptions): HostQueues {
  const queues = new Map<string, HostQueue>()
  let running = 0
  let waiting = 0
  let drained: PromiseWithResolvers<void> | undefined

  return {
    add(host, work) {
      let hostQueue = queues.get(host)
      if (hostQueue === undefined) queues.set(host, (hostQueue = { queue: [], running: 0, isFailing: false }))
      if (hostQueue.queue.length >= waitingPerHost || drained !== undefined) return false
      hostQueue.queue.push(work)
      waiting += 1
      start()
      return true
    },
    get waiting() {
      return waiting
    },
    drain() {
      drained ??= Promise.withResolvers<void>()
      if (running + waiting === 0) drained.resolve()
      return drained.promise
    },
  }

  /** Round robin: a queue whose work has ended goes behind the others. */
  function start(): void {
    if (waiting === 0) return
    for (const [host, hostQueue] of [...queues]) {
      while (running < concurrent && hostQueue.queue.length > 0 && hostQueue.running < concurrencyOf(hostQueue)) {
        run(host, hostQueue, hostQueue.queue.shift() as () => Promise<boolean>)
      }
      if (running >= concurrent) return
    }
  }

  function concurrencyOf({ isFailing }: HostQueue): number {
    return isFailing ? 1 : concurrentPerHost
  }

  function run(host: string, hostQueue: HostQueue, work: () => Promise<boolean>): void {
    running += 1
    waiting -= 1
    hostQueue.running += 1
    void work().then((went) => {
      running -= 1
      hostQueue.running -= 1
      hostQueue.isFailing = !went
      queues.delete(host)
      if (hostQueue.running > 0 || hostQueue.queue.length > 0) queues.set(host, hostQueue)
      if (drained !== undefined && running + waiting === 0) drained.resolve()
      else start()
    })
  }
}
