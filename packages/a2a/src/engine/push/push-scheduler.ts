/**
 * Schedules deliveries. Due cursors are claimed from the store, so that only one of several processes delivers, and run in host
 * queues. The scheduler checks when this process appends to a task with push notification configs, when a retry is due, and every
 * second, for what other processes left behind.
 */
import { type Clock, unrefTimer } from '../../model/clock.ts'
import type { ClaimedPush, Store } from '../../stores/store.ts'
import type { EngineLog, EnginePush } from '../contract.ts'
import type { LoadedTask } from '../task/loaded-task.ts'
import type { LogPages } from '../task/log-pages.ts'
import { runPushJob, type PushJobResult } from './push-job.ts'
import { hostOf } from './push-target.ts'

export interface PushSchedulerDeps extends Clock {
  readonly push: EnginePush
  readonly store: Pick<Store, 'tasks' | 'push'>
  readonly log: EngineLog
  readonly sweepMs: number
  readonly pages: LogPages
  find(taskId: string): Promise<LoadedTask | undefined>
}

const batch = 100
/** A claim outlasts its delivery by this much: the time it may wait for a place. */
const claimSlackMs = 20_000
const waitingPerHost = 500
const maxWaiting = 10_000
/** If the queue of a host is full, the rest is retried after this time. */
const queueFullRetryMs = 1_000
/** The delay after an error of our own, such as a store that does not respond. */
const errorRetryMs = 1_000
/** How long running deliveries may continue when the server closes. */
const graceMs = 2_000
/** Tasks whose appends wake the scheduler. The sweep finds evicted ones. */
const maxWatched = 100_000

const keyOf = (taskId: string, id: string): string => JSON.stringify([taskId, id])

export function createPushScheduler(deps: PushSchedulerDeps) {
  const { push, store, log, now, monotonicNow } = deps
  const claimMs = push.timeoutMs + claimSlackMs
  const queues = createHostQueues({ ...push, waitingPerHost })
  const jobs = new Map<string, { readonly stop: AbortController; readonly ended: Promise<unknown> }>()
  const watched = new Set<string>()
  let started = false
  let stopped = false
  let inFlight: Promise<void> | undefined
  let again = false
  let sweep: Timer | undefined
  const retryTimers = new Set<Timer>()

  return {
    start(): void {
      started = true
      plan()
      wake()
    },
    async stop(): Promise<void> {
      stopped = true
      clearTimeout(sweep)
      for (const timer of retryTimers) clearTimeout(timer)
      await inFlight
      const drained = queues.drain()
      const timer = setTimeout(() => {
        for (const { stop } of jobs.values()) stop.abort(new Error('the server is shutting down'))
      }, graceMs)
      await drained
      clearTimeout(timer)
    },
    /** There may be something to deliver. */
    deliver(taskId: string): void {
      watch(taskId)
      wake()
    },
    /** Called when this process appended to a task. */
    appended(taskId: string): void {
      if (watched.has(taskId)) wake()
    },
    halt: stopDelivery,
  }

  /** Resolves when no delivery is in flight. */
  async function stopDelivery(taskId: string, id: string): Promise<void> {
    const job = jobs.get(keyOf(taskId, id))
    if (job === undefined) return
    job.stop.abort(new Error('the webhook was deleted or replaced'))
    await job.ended
  }

  function watch(taskId: string): void {
    watched.add(taskId)
    if (watched.size > maxWatched) watched.delete(watched.values().next().value ?? '')
  }

  function plan(): void {
    if (stopped) return
    sweep = unrefTimer(
      setTimeout(() => {
        wake()
        plan()
      }, deps.sweepMs),
    )
  }

  /** Several wake-ups at once cause one check. */
  function wake(): void {
    if (!started || stopped) return
    again = true
    inFlight ??= claimDue().finally(() => {
      inFlight = undefined
      if (again) wake()
    })
  }

  function wakeAfter(waitMs: number): void {
    if (waitMs <= 0) return wake()
    // The sweep handles distant times.
    if (waitMs > deps.sweepMs) return
    // A timer may fire a millisecond early, and then nothing would be due.
    const timer = setTimeout(() => {
      retryTimers.delete(timer)
      wake()
    }, waitMs + 1)
    retryTimers.add(unrefTimer(timer))
  }

  async function claimDue(): Promise<void> {
    await Promise.resolve()
    while (again && !stopped && queues.waiting < maxWaiting) {
      again = false
      try {
        const until = monotonicNow() + claimMs
        const at = now()
        const claimed = await store.push.claim(at, at + claimMs, batch)
        for (const one of claimed) await take(one, until)
        if (claimed.length === batch) again = true
      } catch (cause) {
        again = false
        if (!stopped) log.warn('due webhooks could not be read', { cause })
      }
    }
    if (queues.waiting >= maxWaiting) again = false
  }

  /** `until`: the end of the claim, on the monotonic clock. */
  async function take(claimed: ClaimedPush, until: number): Promise<void> {
    const { taskId, config } = claimed.push
    watch(taskId)
    if (queues.add(hostOf(config), () => work(claimed, until))) return
    await giveBack(claimed, now() + queueFullRetryMs)
  }

  async function work(claimed: ClaimedPush, until: number): Promise<boolean> {
    const { taskId, id } = claimed.push
    const key = keyOf(taskId, id)
    // The config was replaced during a delivery: the running job has lost its claim to this one.
    await stopDelivery(taskId, id)
    if (stopped) return giveBack(claimed, now())
    // It waited so long that another process may hold the claim.
    if (monotonicNow() + push.timeoutMs >= until) return true
    const stop = new AbortController()
    const job = runPushJob(
      { ...deps.push, store, log, now, monotonicNow, pages: deps.pages, find: deps.find },
      claimed,
      until,
      stop.signal,
    )
    const ended = job.catch(async (cause: unknown): Promise<PushJobResult> => {
      if (!stopped) log.warn('a webhook could not be processed; it will be retried', { taskId, configId: id, cause })
      // If that fails too, the claim expires, and then the cursor is due again.
      await giveBack(claimed, now() + errorRetryMs)
      return { hasSucceeded: false, isTaskFinished: false }
    })
    jobs.set(key, { stop, ended })
    const { hasSucceeded, waitMs, isTaskFinished } = await ended
    if (jobs.get(key)?.stop === stop) jobs.delete(key)
    if (isTaskFinished) watched.delete(taskId)
    if (waitMs !== undefined) wakeAfter(waitMs)
    return hasSucceeded
  }

  /** Other processes need not wait until our claim has expired. */
  async function giveBack({ push: { taskId, id }, fence }: ClaimedPush, dueAt: number): Promise<boolean> {
    await store.push.move(taskId, id, fence, { dueAt }).catch(() => false)
    return true
  }
}

type Timer = ReturnType<typeof setTimeout>

// Deliveries to many hosts, with a limit overall and per host: a slow host has its own queue and fills only that. After a failure a host
// gets one delivery at a time until it responds again, so that hanging hosts use few of the shared places.

interface HostQueuesOptions {
  /** Concurrent deliveries to all hosts. */
  readonly concurrent: number
  /** Concurrent deliveries to one host. */
  readonly concurrentPerHost: number
  /** How many deliveries may wait for one host. */
  readonly waitingPerHost: number
}

interface HostQueues {
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
