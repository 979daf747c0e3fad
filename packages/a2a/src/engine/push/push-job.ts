/**
 * Advances one claimed cursor: undelivered events are read from the log and delivered one after the other, until all are delivered
 * or one fails. The new position is written once, at the end, and releases the claim. If this process dies before, the next one
 * begins where this one did: an event may arrive twice, and none is lost (B-127).
 */
import type { Clock } from '../../model/clock.ts'
import { abortable, linkSignals } from '../../model/signals.ts'
import { isTerminal } from '../../model/state.ts'
import type { StreamEvent, Task } from '../../model/task.ts'
import { readTraceparent, spanIdOfPush, traceIdOfTask, traceparentOf } from '../../model/trace.ts'
import type { ClaimedPush, PushChange, PushRow, Store } from '../../stores/store.ts'
import type { EngineLog, EnginePush, PushDelivery, PushResult, PushOutcome, PushTarget } from '../contract.ts'
import { taskView } from '../task/fold.ts'
import type { LoadedTask } from '../task/loaded-task.ts'
import type { LogPages } from '../task/log-pages.ts'
import { pushRetryDelay } from './retry-schedule.ts'
import { hostOf, openTarget, triggersOf } from './push-target.ts'

export interface PushJobDeps
  extends Clock, Pick<EnginePush, 'deliver' | 'onResult' | 'sealer' | 'scheduleMs' | 'timeoutMs'> {
  readonly store: Pick<Store, 'tasks' | 'push'>
  readonly log: EngineLog
  readonly pages: LogPages
  find(taskId: string): Promise<LoadedTask | undefined>
}

/** `waitMs`: the time until the next check; absent if the cursor is idle. */
export interface PushJobResult {
  readonly hasSucceeded: boolean
  readonly waitMs?: number
  /** The task will have no more events. */
  readonly isTaskFinished: boolean
}

type Item = PushDelivery['item']

/** How many events one claim delivers at most; that many may be repeated after a crash. */
const maxEventsPerClaim = 20
/** How many events of a task in memory are taken at once. */
const maxTail = 200

/**
 * Of each task in memory, by webhook and version: the head of the task in the last body that was delivered. A task that is loaded
 * again has none, and then a body may be repeated.
 */
const deliveredHeads = new WeakMap<LoadedTask, Map<string, number>>()

/**
 * `until`: the end of the claim, on the monotonic clock. `stop` is aborted when this config must no longer be delivered, or the
 * server closes.
 */
export async function runPushJob(
  deps: PushJobDeps,
  { push, fence }: ClaimedPush,
  until: number,
  stop: AbortSignal,
): Promise<PushJobResult> {
  const { store, log, now, monotonicNow } = deps
  const { taskId, id } = push
  const wantsAll = triggersOf(push.config) === 'all'
  let cursor = push.deliveredSeq
  let delivered = 0
  const loaded = await deps.find(taskId)
  if (loaded === undefined) return idleResult(true)
  let target: PushTarget
  try {
    target = await openTarget(deps.sealer, taskId, id, push.config)
  } catch (cause) {
    log.error('the secrets of a webhook cannot be decrypted', { taskId, configId: id, cause })
    return markDead(push.attempt + 1, 'its secrets cannot be decrypted')
  }

  const heads = deliveredHeads.get(loaded) ?? new Map<string, number>()
  deliveredHeads.set(loaded, heads)
  const webhook = `${target.version} ${id}`
  /** The head of the task in the last body. Later bodies up to there would be the same, so the cursor moves past them (B-122). */
  let carriedSeq = heads.get(webhook) ?? 0

  for (;;) {
    const items = await nextItems(loaded)
    if (items.length === 0) break
    for (const item of items) {
      if (item.seq <= cursor) continue
      if (!isWanted(item.event) || isUnchanged()) {
        cursor = item.seq
        continue
      }
      // Other configs wait too, and after our claim expires another process may claim it.
      if (stop.aborted || delivered >= maxEventsPerClaim || monotonicNow() + deps.timeoutMs >= until)
        return continueLater()
      if (!(await isStillOurs())) return idleResult(true)
      const outcome = await deliverItem(item)
      if (stop.aborted && outcome.outcome !== 'delivered') return continueLater()
      if (outcome.outcome !== 'delivered') return fail(outcome)
      cursor = Math.max(item.seq, carriedSeq)
      heads.set(webhook, carriedSeq)
      delivered += 1
    }
  }
  const { status, statusSeq } = loaded.fold
  const isOver = isTerminal(status.state) && cursor >= statusSeq
  await move({ deliveredSeq: cursor, attempt: 0, dueAt: null, ...(isOver ? { state: 'done' } : {}) })
  // An append since the last check finds the claim released, but it woke no scheduler.
  const { fold } = loaded
  const isBehind = (loaded.tail.at(-1)?.seq ?? 0) > cursor || (isTerminal(fold.status.state) && cursor < fold.statusSeq)
  return { hasSucceeded: true, isTaskFinished: isOver, ...(isBehind ? { waitMs: 0 } : {}) }

  /** Visible events after the cursor, from memory or from the store. If the log was dropped, the current task replaces them. */
  async function nextItems(task: LoadedTask): Promise<readonly Item[]> {
    if (cursor >= task.tailFrom) return task.tail.filter(({ seq }) => seq > cursor).slice(0, maxTail)
    const { events, lastSeq } = await deps.pages.within(task, cursor)
    if (lastSeq === undefined) {
      return [{ seq: task.fold.head, event: { task: taskView(task.fold) }, final: false, gap: true }]
    }
    if (events.length > 0) return events
    // Only internal records: the cursor may pass them.
    cursor = lastSeq
    return nextItems(task)
  }

  function isWanted(event: StreamEvent): boolean {
    return wantsAll || !('artifactUpdate' in event) || event.artifactUpdate.lastChunk === true
  }

  /** The last body is what the next one would be (B-122). A redelivery has moved the cursor back. */
  function isUnchanged(): boolean {
    const { changedSeq } = (loaded as LoadedTask).fold
    return carriedSeq <= cursor && carriedSeq >= changedSeq
  }

  /** The config may have been deleted or replaced, in this process or on another replica (B-118). */
  async function isStillOurs(): Promise<boolean> {
    const row: PushRow | undefined = await store.push.load(taskId, id)
    return row !== undefined && row.state === 'active' && JSON.stringify(row.config) === JSON.stringify(push.config)
  }

  async function deliverItem(item: Item): Promise<PushOutcome> {
    const startedAt = now()
    const startedMonotonic = monotonicNow()
    const { signal, end } = linkSignals([stop], deps.timeoutMs, () => new Error('timed out'))
    const task = () => taskView((loaded as LoadedTask).fold)
    const { seq } = item
    const event = wantsAll ? item.event : withWholeArtifact(item.event, task)
    const sentItem = event === item.event ? item : { ...item, event }
    const attempt = delivered === 0 ? push.attempt + 1 : 1
    const traceparent = traceOf(item, startedAt)
    const carriedTask = (): Task => {
      carriedSeq = (loaded as LoadedTask).fold.head
      return task()
    }
    let outcome: PushOutcome
    try {
      const { agent } = (loaded as LoadedTask).partition
      const about = { agent, taskId, configId: id, item: sentItem, target, traceparent }
      const delivery = { ...about, task: carriedTask, signal }
      // The delivery function should stop when its signal aborts; a place in a host queue must not depend on it.
      outcome = await abortable(signal, deps.deliver(delivery))
    } catch (cause) {
      if (!signal.aborted) log.error('a notification could not be built', { taskId, configId: id, seq, cause })
      outcome = { outcome: 'failed', detail: signal.aborted ? 'timed out' : 'internal error' }
    } finally {
      end()
    }
    if (!stop.aborted) {
      const durationMs = Math.round(monotonicNow() - startedMonotonic)
      const lagMs = item.at === undefined ? {} : { lagMs: Math.max(0, now() - item.at) }
      const went = { outcome: outcome.outcome, detail: outcome.detail, at: startedAt, durationMs, ...lagMs }
      reportResult({ seq, attempt, ...went, traceparent })
      // Informational: it is not awaited, and nothing depends on it.
      const note = { taskId, pushId: id, seq, at: startedAt, attempt, outcome: outcome.detail, durationMs }
      const answer = 'answer' in outcome && outcome.answer !== undefined ? { answer: outcome.answer } : {}
      store.push
        .recordAttempt({ ...note, ...answer })
        .catch((reason: unknown) => log.warn('a delivery attempt could not be recorded', { taskId, cause: reason }))
    }
    return outcome
  }

  function reportResult(about: Omit<PushResult, 'agent' | 'taskId' | 'configId'>): void {
    const { agent } = (loaded as LoadedTask).partition
    try {
      deps.onResult?.({ agent, taskId, configId: id, ...about })
    } catch (cause) {
      log.warn('onResult failed', { taskId, configId: id, cause })
    }
  }

  /** The trace of the request whose turn reported the event; without one, the trace of the request that registered the webhook. */
  function traceOf({ seq, traceparent }: Item, startedAt: number): string {
    const known = readTraceparent(traceparent) ?? readTraceparent(target.traceparent)
    const { traceId, isSampled } = known ?? { traceId: traceIdOfTask(taskId), isSampled: true }
    return traceparentOf({ traceId, spanId: spanIdOfPush(taskId, id, seq, startedAt), isSampled })
  }

  async function fail(outcome: Exclude<PushOutcome, { outcome: 'delivered' }>): Promise<PushJobResult> {
    if (outcome.outcome === 'gone') {
      const about = { taskId, configId: id, host: hostOf(push.config) }
      // Under our claim: the receiver that responded this way is not the one that its owner may have set since.
      const isDropped = await store.push.delete(taskId, id, fence)
      if (isDropped) log.info('a webhook wants no more notifications, and was dropped', about)
      return idleResult(true)
    }
    const failures = delivered === 0 ? push.attempt + 1 : 1
    if (outcome.outcome === 'refused') return markDead(failures, outcome.detail)
    const delay = pushRetryDelay(failures, deps.scheduleMs, outcome.retryAfterMs)
    if (delay === undefined) return markDead(failures, outcome.detail)
    await move({ deliveredSeq: cursor, attempt: failures, dueAt: now() + delay })
    return { hasSucceeded: false, waitMs: delay, isTaskFinished: false }
  }

  /** The dead letter: this config, and the first event after its cursor. */
  async function markDead(failures: number, said: string): Promise<PushJobResult> {
    const about = { taskId, configId: id, host: hostOf(push.config), afterSeq: cursor, attempts: failures, said }
    log.warn('push delivery failed permanently; redeliver when the receiver works again', about)
    reportResult({ seq: cursor + 1, attempt: failures, outcome: 'dead', detail: said, at: now(), durationMs: 0 })
    await move({ deliveredSeq: cursor, attempt: failures, dueAt: null, state: 'dead' })
    return idleResult(false)
  }

  async function continueLater(): Promise<PushJobResult> {
    await move({ deliveredSeq: cursor, attempt: delivered === 0 ? push.attempt : 0, dueAt: now() })
    return { hasSucceeded: true, waitMs: 0, isTaskFinished: false }
  }

  async function move(change: PushChange): Promise<void> {
    await store.push.move(taskId, id, fence, change)
  }
}

/** A receiver that did not get the earlier chunks gets the whole artifact instead of only the last chunk. */
function withWholeArtifact(event: StreamEvent, task: () => Task): StreamEvent {
  if (!('artifactUpdate' in event) || event.artifactUpdate.append !== true) return event
  const { append: _, ...update } = event.artifactUpdate
  const made = task().artifacts?.find(({ artifactId }) => artifactId === update.artifact.artifactId)
  return made === undefined ? event : { artifactUpdate: { ...update, artifact: made } }
}

function idleResult(went: boolean): PushJobResult {
  return { hasSucceeded: went, isTaskFinished: false }
}
