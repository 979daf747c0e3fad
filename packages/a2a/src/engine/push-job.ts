/**
 * One claimed cursor, moved on: what its webhook was not told yet is read from the log and delivered, one event after
 * the other, until all is told or one fails. How far it came is written once, at the end, and gives the claim back. If
 * we die before, the next one begins where this one did: an event may come twice, and none is lost (B-127).
 */
import type { Clock } from '../model/clock.ts'
import { linkSignals } from '../model/linked-signal.ts'
import { isTerminal } from '../model/state.ts'
import type { StreamEvent, Task } from '../model/task.ts'
import { readTraceparent, spanIdOfPush, traceIdOfTask, traceparentOf } from '../model/trace.ts'
import type { ClaimedPush, PushChange, PushRow, Store } from '../stores/store.ts'
import type { EngineLog, EnginePush, PushDelivery, PushNews, PushOutcome, PushTarget } from './contract.ts'
import { traceAt, viewOf } from './fold.ts'
import type { Live } from './live.ts'
import { eventOf } from './event-of.ts'
import { retryDelay } from './push-schedule.ts'
import { hostOf, openTarget, triggersOf } from './push-target.ts'

export interface PushJobParts
  extends Clock, Pick<EnginePush, 'deliver' | 'onNews' | 'sealer' | 'scheduleMs' | 'timeoutMs'> {
  readonly store: Store
  readonly log: EngineLog
  find(taskId: string): Promise<Live | undefined>
}

/** `waitMs`: how long until it is looked at again; nothing if it rests. */
export interface JobResult {
  readonly went: boolean
  readonly waitMs?: number
  /** Nothing more will come of this task. */
  readonly isOver: boolean
}

type Item = PushDelivery['item']

/** How many events one claim delivers at most: as many come twice if we die. */
const mostEvents = 20
const maxRead = 200
const maxReadBytes = 1_000_000

/** `until`: the claim holds as long, on the monotonic clock. `stop` is aborted when this config must not be told any more, or the server closes. */
export async function runPushJob(
  parts: PushJobParts,
  { push, fence }: ClaimedPush,
  until: number,
  stop: AbortSignal,
): Promise<JobResult> {
  const { store, log, now, monotonicNow } = parts
  const { taskId, id } = push
  const wantsAll = triggersOf(push.config) === 'all'
  let cursor = push.deliveredSeq
  let delivered = 0

  const live = await parts.find(taskId)
  if (live === undefined) return rests(true)
  let target: PushTarget
  try {
    target = await openTarget(parts.sealer, taskId, id, push.config)
  } catch (cause) {
    log.error('the secrets of a webhook cannot be opened', { taskId, configId: id, cause })
    return bury(push.attempt + 1, 'its secrets cannot be opened')
  }

  for (;;) {
    const items = await nextItems(live)
    if (items.length === 0) break
    for (const item of items) {
      if (!isWanted(item.event)) {
        cursor = item.seq
        continue
      }
      // Others wait too, and a claim that ran out is somebody else's.
      if (stop.aborted || delivered >= mostEvents || monotonicNow() + parts.timeoutMs >= until) return goOn()
      if (!(await isStillOurs())) return rests(true)
      const outcome = await tell(item)
      if (stop.aborted && outcome.outcome !== 'delivered') return goOn()
      if (outcome.outcome !== 'delivered') return fail(outcome)
      cursor = item.seq
      delivered += 1
    }
  }
  const { status, statusSeq } = live.fold
  const isOver = isTerminal(status.state) && cursor >= statusSeq
  await move({ deliveredSeq: cursor, attempt: 0, dueAt: null, ...(isOver ? { state: 'done' } : {}) })
  // What came since we looked finds the claim given back, but nobody who was woken by it.
  const isBehind = (live.tail.at(-1)?.seq ?? 0) > cursor
  return { went: true, isOver, ...(isBehind ? { waitMs: 0 } : {}) }

  /** Visible events after the cursor: from memory, or from the store. A log that was dropped is told by what it came to. */
  async function nextItems(task: Live): Promise<readonly Item[]> {
    if (cursor >= task.tailFrom) return task.tail.filter(({ seq }) => seq > cursor).slice(0, maxRead)
    if ((await store.firstSeq(taskId)) > cursor + 1) {
      return [{ seq: task.fold.head, event: { task: viewOf(task.fold) }, final: false, gap: true }]
    }
    const records = await store.read(taskId, cursor, maxRead, maxReadBytes)
    const items: Item[] = []
    for (const { seq, at, body } of records) {
      const event = eventOf(taskId, task.fold.contextId, body)
      if (event !== undefined) items.push({ seq, event, final: false, at, traceparent: traceAt(task.fold, seq) })
    }
    const last = records.at(-1)
    if (items.length > 0 || last === undefined) return items
    // Nothing but internal records: the cursor may pass them.
    cursor = last.seq
    return nextItems(task)
  }

  function isWanted(event: StreamEvent): boolean {
    return wantsAll || !('artifactUpdate' in event) || event.artifactUpdate.lastChunk === true
  }

  /** Somebody may have deleted or replaced it, here or on another replica (B-118). */
  async function isStillOurs(): Promise<boolean> {
    const row: PushRow | undefined = await store.loadPush(taskId, id)
    return row !== undefined && row.state === 'active' && JSON.stringify(row.config) === JSON.stringify(push.config)
  }

  async function tell(item: Item): Promise<PushOutcome> {
    const startedAt = now()
    const began = monotonicNow()
    const { signal, end } = linkSignals([stop], parts.timeoutMs, () => new Error('timed out'))
    const task = () => viewOf((live as Live).fold)
    // Whoever delivers should stop when told to; a place in a lane must not hang on it.
    const cut = Promise.withResolvers<PushOutcome>()
    signal.addEventListener('abort', () => cut.resolve({ outcome: 'failed', said: 'timed out' }), { once: true })
    const { seq } = item
    const event = wantsAll ? item.event : whole(item.event, task)
    const told = event === item.event ? item : { ...item, event }
    const attempt = delivered === 0 ? push.attempt + 1 : 1
    const traceparent = traceOf(item, startedAt)
    let outcome: PushOutcome
    try {
      const { agent } = (live as Live).partition
      const delivery = { agent, taskId, configId: id, item: told, target, traceparent, task, signal }
      outcome = await Promise.race([parts.deliver(delivery), cut.promise])
    } catch (cause) {
      log.error('a notification could not be made', { taskId, configId: id, seq, cause })
      outcome = { outcome: 'failed', said: 'internal error' }
    } finally {
      end()
    }
    if (!stop.aborted) {
      const durationMs = Math.round(monotonicNow() - began)
      const lagMs = item.at === undefined ? {} : { lagMs: Math.max(0, now() - item.at) }
      const went = { outcome: outcome.outcome, said: outcome.said, at: startedAt, durationMs, ...lagMs }
      news({ seq, attempt, ...went, traceparent })
      // For people to look at: nobody waits for it, and nothing hangs on it.
      const note = { taskId, pushId: id, seq, at: startedAt, attempt, outcome: outcome.said, durationMs }
      const answer = 'answer' in outcome && outcome.answer !== undefined ? { answer: outcome.answer } : {}
      store
        .recordAttempt({ ...note, ...answer })
        .catch((reason: unknown) => log.warn('an attempt was not recorded', { taskId, cause: reason }))
    }
    return outcome
  }

  function news(about: Omit<PushNews, 'agent' | 'taskId' | 'configId'>): void {
    const { agent } = (live as Live).partition
    try {
      parts.onNews?.({ agent, taskId, configId: id, ...about })
    } catch (cause) {
      log.warn('onNews failed', { taskId, configId: id, cause })
    }
  }

  /** That of the request whose turn said it; of one that nobody traced, that of who asked for the webhook. */
  function traceOf({ seq, traceparent }: Item, startedAt: number): string {
    const known = readTraceparent(traceparent) ?? readTraceparent(target.traceparent)
    const { traceId, isSampled } = known ?? { traceId: traceIdOfTask(taskId), isSampled: true }
    return traceparentOf({ traceId, spanId: spanIdOfPush(taskId, id, seq, startedAt), isSampled })
  }

  async function fail(outcome: Exclude<PushOutcome, { outcome: 'delivered' }>): Promise<JobResult> {
    if (outcome.outcome === 'gone') {
      const about = { taskId, configId: id, host: hostOf(push.config) }
      // Under our claim: who answered so is not the one that its owner may have put in its place.
      const isDropped = await store.deletePush(taskId, id, fence)
      if (isDropped) log.info('a webhook wants no more notifications, and was dropped', about)
      return rests(true)
    }
    const failures = delivered === 0 ? push.attempt + 1 : 1
    if (outcome.outcome === 'refused') return bury(failures, outcome.said)
    const delay = retryDelay(failures, parts.scheduleMs, outcome.retryAfterMs)
    if (delay === undefined) return bury(failures, outcome.said)
    await move({ deliveredSeq: cursor, attempt: failures, dueAt: now() + delay })
    return { went: false, waitMs: delay, isOver: false }
  }

  /** The dead letter: this config, and the first event after its cursor. */
  async function bury(failures: number, said: string): Promise<JobResult> {
    const about = { taskId, configId: id, host: hostOf(push.config), afterSeq: cursor, attempts: failures, said }
    log.warn('a webhook was given up; ask for redelivery when it is mended', about)
    news({ seq: cursor + 1, attempt: failures, outcome: 'dead', said, at: now(), durationMs: 0 })
    await move({ deliveredSeq: cursor, attempt: failures, dueAt: null, state: 'dead' })
    return rests(false)
  }

  async function goOn(): Promise<JobResult> {
    await move({ deliveredSeq: cursor, attempt: delivered === 0 ? push.attempt : 0, dueAt: now() })
    return { went: true, waitMs: 0, isOver: false }
  }

  async function move(change: PushChange): Promise<void> {
    await store.movePush(taskId, id, fence, change)
  }
}

/** Who was not told of the chunks is told of the artifact that they made, not of the last of them alone. */
function whole(event: StreamEvent, task: () => Task): StreamEvent {
  if (!('artifactUpdate' in event) || event.artifactUpdate.append !== true) return event
  const { append: _, ...update } = event.artifactUpdate
  const made = task().artifacts?.find(({ artifactId }) => artifactId === update.artifact.artifactId)
  return made === undefined ? event : { artifactUpdate: { ...update, artifact: made } }
}

function rests(went: boolean): JobResult {
  return { went, isOver: false }
}
