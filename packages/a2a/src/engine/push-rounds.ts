/**
 * Who delivers what and when: cursors that are due are claimed from the store, so that of several processes one
 * delivers, and are worked off in lanes. Looked for whenever this process appends to a task that has webhooks, when a
 * retry is due, and every second besides, for what others left behind.
 */
import type { Clock } from '../model/clock.ts'
import type { ClaimedPush, Store } from '../stores/store.ts'
import type { EngineLog, EnginePush } from './contract.ts'
import type { Live } from './live.ts'
import { runPushJob } from './push-job.ts'
import type { JobResult } from './push-job.ts'
import { createLanes } from './push-lanes.ts'
import { hostOf } from './push-target.ts'

export interface PushRoundsParts extends Clock {
  readonly push: EnginePush
  readonly store: Store
  readonly log: EngineLog
  readonly sweepMs: number
  find(taskId: string): Promise<Live | undefined>
}

const batch = 100
/** A claim outlasts the delivery it is for by as much: the time it may wait for a place. */
const claimSlackMs = 20_000
const waitingPerHost = 500
const maxWaiting = 10_000
/** When more want to the same host than may wait for it, the rest come back after this long. */
const tooManyMs = 1_000
/** After trouble of our own, such as a store that does not answer. */
const troubleMs = 1_000
/** Running deliveries may end by themselves for so long when the server closes. */
const graceMs = 2_000
/** Tasks whose appends wake us. What is forgotten is found by the sweep. */
const maxWatched = 100_000

const keyOf = (taskId: string, id: string): string => JSON.stringify([taskId, id])

export function createPushRounds(parts: PushRoundsParts) {
  const { push, store, log, now, monotonicNow } = parts
  const claimMs = push.timeoutMs + claimSlackMs
  const lanes = createLanes({ ...push, waitingPerHost })
  const jobs = new Map<string, { readonly stop: AbortController; readonly ended: Promise<unknown> }>()
  const watched = new Set<string>()
  let started = false
  let stopped = false
  let underway: Promise<void> | undefined
  let again = false
  let sweep: Timer | undefined
  const alarms = new Set<Timer>()

  return {
    start(): void {
      started = true
      plan()
      wake()
    },
    async stop(): Promise<void> {
      stopped = true
      clearTimeout(sweep)
      for (const timer of alarms) clearTimeout(timer)
      await underway
      const drained = lanes.drain()
      const timer = setTimeout(() => {
        for (const { stop } of jobs.values()) stop.abort(new Error('the server is going down'))
      }, graceMs)
      await drained
      clearTimeout(timer)
    },
    wake,
    watch,
    /** Something was appended to a task in this process. */
    appended(taskId: string): void {
      if (watched.has(taskId)) wake()
    },
    halt,
  }

  /** Resolves when nothing is on its way any more. */
  async function halt(taskId: string, id: string): Promise<void> {
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
    sweep = unref(
      setTimeout(() => {
        wake()
        plan()
      }, parts.sweepMs),
    )
  }

  /** Many wake-ups at once are one look. */
  function wake(): void {
    if (!started || stopped) return
    again = true
    underway ??= look().finally(() => {
      underway = undefined
      if (again) wake()
    })
  }

  function wakeAfter(waitMs: number): void {
    if (waitMs <= 0) return wake()
    // The sweep is as good for what is far away.
    if (waitMs > parts.sweepMs) return
    // A timer may be early by a millisecond, and then nothing would be due.
    const timer = setTimeout(() => {
      alarms.delete(timer)
      wake()
    }, waitMs + 1)
    alarms.add(unref(timer))
  }

  async function look(): Promise<void> {
    await Promise.resolve()
    while (again && !stopped && lanes.waiting < maxWaiting) {
      again = false
      try {
        const until = monotonicNow() + claimMs
        const at = now()
        const claimed = await store.claimPush(at, at + claimMs, batch)
        for (const one of claimed) await take(one, until)
        if (claimed.length === batch) again = true
      } catch (cause) {
        again = false
        if (!stopped) log.warn('due webhooks could not be looked for', { cause })
      }
    }
    if (lanes.waiting >= maxWaiting) again = false
  }

  /** `until`: how long the claim holds, on the monotonic clock. */
  async function take(claimed: ClaimedPush, until: number): Promise<void> {
    const { taskId, config } = claimed.push
    watch(taskId)
    if (lanes.add(hostOf(config), () => work(claimed, until))) return
    await giveBack(claimed, now() + tooManyMs)
  }

  async function work(claimed: ClaimedPush, until: number): Promise<boolean> {
    const { taskId, id } = claimed.push
    const key = keyOf(taskId, id)
    // It was replaced while it was being told: the job that is under way has lost its claim to this one.
    await halt(taskId, id)
    if (stopped) return giveBack(claimed, now())
    // It waited for so long that the claim may be somebody else's.
    if (monotonicNow() + push.timeoutMs >= until) return true
    const stop = new AbortController()
    const job = runPushJob(
      { ...parts.push, store, log, now, monotonicNow, find: parts.find },
      claimed,
      until,
      stop.signal,
    )
    const ended = job.catch(async (cause: unknown): Promise<JobResult> => {
      if (!stopped) log.warn('a webhook could not be served; it will be tried again', { taskId, configId: id, cause })
      // If not even that is possible the claim runs out, and then it comes again.
      await giveBack(claimed, now() + troubleMs)
      return { went: false, isOver: false }
    })
    jobs.set(key, { stop, ended })
    const { went, waitMs, isOver } = await ended
    if (jobs.get(key)?.stop === stop) jobs.delete(key)
    if (isOver) watched.delete(taskId)
    if (waitMs !== undefined) wakeAfter(waitMs)
    return went
  }

  /** Another process need not wait until our claim has run out. */
  async function giveBack({ push: { taskId, id }, fence }: ClaimedPush, dueAt: number): Promise<boolean> {
    await store.movePush(taskId, id, fence, { dueAt }).catch(() => false)
    return true
  }
}

type Timer = ReturnType<typeof setTimeout>

/** A timer must not keep a process alive that has nothing else to do. */
function unref(timer: Timer): Timer {
  if (typeof timer === 'object' && 'unref' in timer) (timer as { unref(): void }).unref()
  return timer
}
