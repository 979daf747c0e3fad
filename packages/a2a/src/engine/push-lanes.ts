/**
 * Work for many hosts at once, bounded overall and for each: a host that is slow has its own lane, and fills only that.
 * A host that failed last is tried by one at a time until it answers again, so that those who hang hold few of the
 * places that all share.
 */

export interface LanesOptions {
  /** At one time, to all hosts. */
  readonly concurrent: number
  /** At one time, to one host. */
  readonly concurrentPerHost: number
  /** How many may wait for one host. */
  readonly waitingPerHost: number
}

export interface Lanes {
  /** Does it when there is a place. `work` resolves with whether it went well, and does not reject. False: too many wait. */
  add(host: string, work: () => Promise<boolean>): boolean
  readonly waiting: number
  /** Takes nothing more. Resolves when all is done that was taken. */
  drain(): Promise<void>
}

interface Lane {
  readonly queue: (() => Promise<boolean>)[]
  running: number
  isFailing: boolean
}

export function createLanes({ concurrent, concurrentPerHost, waitingPerHost }: LanesOptions): Lanes {
  const lanes = new Map<string, Lane>()
  let running = 0
  let waiting = 0
  let drained: PromiseWithResolvers<void> | undefined

  return {
    add(host, work) {
      let lane = lanes.get(host)
      if (lane === undefined) lanes.set(host, (lane = { queue: [], running: 0, isFailing: false }))
      if (lane.queue.length >= waitingPerHost || drained !== undefined) return false
      lane.queue.push(work)
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

  /** In turn: the lane whose work has ended stands behind the others. */
  function start(): void {
    if (waiting === 0) return
    for (const [host, lane] of [...lanes]) {
      while (running < concurrent && lane.queue.length > 0 && lane.running < placesOf(lane)) {
        run(host, lane, lane.queue.shift() as () => Promise<boolean>)
      }
      if (running >= concurrent) return
    }
  }

  function placesOf({ isFailing }: Lane): number {
    return isFailing ? 1 : concurrentPerHost
  }

  function run(host: string, lane: Lane, work: () => Promise<boolean>): void {
    running += 1
    waiting -= 1
    lane.running += 1
    void work().then((went) => {
      running -= 1
      lane.running -= 1
      lane.isFailing = !went
      lanes.delete(host)
      if (lane.running > 0 || lane.queue.length > 0) lanes.set(host, lane)
      if (drained !== undefined && running + waiting === 0) drained.resolve()
      else start()
    })
  }
}
