/**
 * The line to the remote agent for one turn: which stream is to be read next, what is kept of what came, and what a
 * failure means. `talk` reads it.
 */
import { A2AError, isInterrupted, isRedacted } from '@parley/a2a'
import type { OpenSpan, Report, StateReport, Task, TaskStatus, Turn } from '@parley/a2a'
import type { EventStream, RemoteAgent, WireEvent } from '@parley/a2a/client'
import type { House } from '../kind.ts'
import type { AddressBook } from './address-book.ts'
import type { A2AEntry } from './entry.ts'
import { failureOf, lostOnTheWay, secretIsGone } from './failure.ts'
import type { Hooks } from './hooks.ts'
import { callOptions, outgoing } from './outgoing.ts'
import { pause } from './pause.ts'
import type { Place } from './place.ts'
import { askedIn, taskBefore } from './place.ts'
import type { Stopping } from './stopping.ts'
import type { Teller } from './tell.ts'
import type { Upstream } from './upstream.ts'
import { isOurs, mayHaveArrived, whereabouts } from './whereabouts.ts'

export interface LineParts {
  readonly entry: A2AEntry
  readonly upstream: Upstream
  readonly hooks: Hooks
  readonly book: AddressBook
  readonly house: Pick<House, 'onward'>
  readonly now: () => number
  readonly monotonicNow: () => number
}

/** Where to begin. */
export interface Beginning {
  readonly remote: RemoteAgent
  readonly place: Place
  readonly span: OpenSpan
  readonly isResumed: boolean
}

export interface Line {
  /** Theirs, once it is known. */
  readonly taskId: string | undefined
  /** The next stream to read. */
  open(signal: AbortSignal): Promise<EventStream>
  /** Something came: what must be kept before anything is told is kept when this resolves. */
  heard(stream: EventStream): Promise<void>
  /** Whether what was just understood is in our log already. */
  isKnown(): boolean
  /** The remote task waits for the caller: from now on its question is known. */
  asked(status: TaskStatus): Promise<void>
  /** All of this frame has been told. */
  told(frame: WireEvent): void
  /** The stream ended, and the task did not. Answers the last report of the turn, if there is to be one. */
  ended(aside: Report | undefined): Promise<Report | undefined>
  /** A stream failed, or none could be had, or `woken` or `shown`. Answers the last report of the turn, or nothing if it is worth another try. */
  failed(reason: unknown): Promise<Report | undefined>
  /** Calls `wake` when the agent says that something has happened. */
  listen(wake: () => void): () => void
}

/** How the next stream is had: by finding out first, by the message, by what our log has, or after a cursor. */
type Way = 'find' | 'send' | 'look' | { readonly cursor: string }

/** A notification came: there is something new. */
export const woken = new Error('a notification came')
/** Instead of what came after a cursor the peer shows the task: only what our log has says what is new in it. */
export const shown = new Error('the task was shown')
/** However many come, so long is waited between two looks. */
const breatheMs = 100
const firstPauseMs = 250
const longestPauseMs = 10_000
/** So many events, or so much time, may have to be gone through again after a crash. */
const unsavedEvents = 64
const unsavedMs = 500

/** Those that did not want to be told where to send notifications. */
const refusesHooks = new WeakSet<RemoteAgent>()

export async function openLine(
  turn: Turn,
  parts: LineParts,
  beginning: Beginning,
  teller: Teller,
  stopping: Stopping,
): Promise<Line> {
  const { entry, upstream, hooks, book, now, monotonicNow } = parts
  const { isResumed, span } = beginning
  let { remote, place } = beginning
  let skip = 0
  let way = await firstWay()
  let contextId = place.taskId === undefined ? await book.contextOf(turn) : undefined
  let push = canNotify() ? await hooks.configFor(turn.task.id) : undefined
  let heardAt = monotonicNow()
  let failures = 0
  // The first is kept at once: from then on the log says how far we are.
  let savedAt = -Infinity
  let unsaved = 0
  if (place.taskId !== undefined) stopping.found(remote, place.taskId, about())

  return {
    get taskId() {
      return place.taskId
    },
    async open(signal) {
      if (way === 'find') way = await find(signal)
      const { taskId } = place
      if (way === 'send' || taskId === undefined) return send(signal)
      if (typeof way === 'object') return remote.subscribe(taskId, { ...about(), signal, lastEventId: way.cursor })
      teller.rejoin()
      return remote.subscribe(taskId, { ...about(), signal, known: { id: taskId, ...(await teller.known()) } })
    },
    async heard({ taskId, contextId: theirs }) {
      heardAt = monotonicNow()
      failures = 0
      if (place.arrived === true || taskId === undefined) return
      await move({ taskId })
      await book.learn(turn, { taskId, contextId: theirs }).catch((cause: unknown) => {
        turn.log.warn('which task of the remote agent this is could not be noted', { taskId: turn.task.id, cause })
      })
    },
    isKnown() {
      if (skip === 0) return false
      skip -= 1
      return true
    },
    asked,
    told({ id }) {
      if (id === undefined || skip > 0 || !isOurs(remote.card)) return
      const { skip: _, ...rest } = place
      place = { ...rest, cursor: id }
      unsaved += 1
      if (unsaved < unsavedEvents && monotonicNow() - savedAt < unsavedMs) return
      unsaved = 0
      savedAt = monotonicNow()
      // Nobody waits: until it is written the one before holds, and the log says how much came after it.
      void turn.checkpoint(place)
    },
    ended,
    failed,
    listen(wake) {
      if (push === undefined) return () => {}
      // While the message is on its way its answer is what is waited for.
      return hooks.listen(turn.task.id, () => place.arrived === true && wake())
    },
  }

  async function keep(next: Place): Promise<void> {
    place = next
    await turn.checkpoint(place).catch((cause: unknown) => {
      throw new NotKept('what is known of the remote task could not be kept', { cause })
    })
  }

  async function asked(status: TaskStatus): Promise<void> {
    await move({ asked: askedIn(status) })
  }

  /** They have the message: this is their task, and whatever else is known of it. */
  async function move({ taskId = place.taskId, asked: question }: Pick<Place, 'taskId' | 'asked'>): Promise<void> {
    const { round, messageId, span: ofTrace } = place
    if (taskId !== undefined) span.set({ childTaskId: taskId })
    await keep({
      round,
      messageId,
      ...(ofTrace !== undefined ? { span: ofTrace } : {}),
      ...(taskId !== undefined ? { taskId } : {}),
      arrived: true,
      ...(question !== undefined ? { asked: question } : {}),
    })
    if (taskId !== undefined) stopping.found(remote, taskId, about())
  }

  async function ended(aside: Report | undefined): Promise<Report | undefined> {
    if (aside !== undefined && place.taskId !== undefined) {
      const { status } = await remote.get(place.taskId, about())
      // An answer to an answer, and the task waits on.
      if (isInterrupted(status.state)) {
        await asked(status)
        return { ...(aside as StateReport), state: status.state }
      }
    }
    return failed(new A2AError('INTERRUPTED', 'The stream ended before the task did'))
  }

  async function failed(reason: unknown): Promise<Report | undefined> {
    if (reason instanceof LastWord) return reason.report
    if (reason === woken || reason === shown) {
      way = 'look'
      skip = 0
      if (reason === woken) await pause(breatheMs, stopping.signal)
      return undefined
    }
    if (!(reason instanceof A2AError)) return failureOf(reason, turn)
    if (place.arrived === true ? !isTransient(reason) : !(await mayGoOn(reason))) return failureOf(reason, turn)
    if (!isTransient(reason)) return way === 'find' ? lostOnTheWay() : undefined
    if (monotonicNow() - heardAt > entry.patience) return failureOf(reason, turn)
    await pause(Math.min(longestPauseMs, firstPauseMs * 2 ** failures), stopping.signal)
    failures += 1
    upstream.doubt()
    remote = await upstream.remote(stopping.signal).catch(() => remote)
    if (place.arrived === true) goOn()
    return undefined
  }

  function goOn(): void {
    way = place.cursor === undefined ? 'look' : { cursor: place.cursor }
    skip = place.skip ?? 0
  }

  async function firstWay(): Promise<Way> {
    if (!isResumed) return 'send'
    if (place.arrived !== true) return 'find'
    if (place.cursor === undefined) return 'look'
    skip = (place.skip ?? 0) + (turn.resumed?.reports ?? 0)
    const { cursor } = place
    // What others say in this turn meanwhile, such as that it waits in line, must not be counted as ours.
    await keep({ ...place, skip })
    return { cursor }
  }

  function canNotify(): boolean {
    const { streaming, pushNotifications } = remote.card.capabilities
    return entry.pushFrom === 'auto' && streaming !== true && pushNotifications === true && !refusesHooks.has(remote)
  }

  function about() {
    return callOptions(turn, remote.card, entry, span.traceparent)
  }

  async function send(signal: AbortSignal): Promise<EventStream> {
    const before = taskBefore(turn)
    const referenceTaskIds = [...(await book.references(turn)), ...(before !== undefined ? [before] : [])]
    const { traceparent } = span
    const hop = await parts.house.onward(turn, { card: remote.card, messageId: place.messageId })
    const to = { place, contextId, referenceTaskIds, push, hop, traceparent }
    const { saying, options } = outgoing(turn, remote.card, entry, to)
    return remote.stream(saying, { ...options, signal, known: await knownBefore() })
  }

  /** Of a task that asked: everything, and the question. Of a new one: nothing. */
  async function knownBefore(): Promise<Partial<Task>> {
    const { taskId: id, asked } = place
    if (id === undefined) return {}
    const { state, timestamp, messageId } = asked ?? { state: 'TASK_STATE_INPUT_REQUIRED' as const }
    const status: TaskStatus = {
      state,
      ...(timestamp !== undefined ? { timestamp } : {}),
      ...(messageId !== undefined ? { message: { messageId, role: 'ROLE_AGENT', parts: [] } } : {}),
    }
    return { id, status, ...(await teller.known()) }
  }

  async function find(signal: AbortSignal): Promise<Way> {
    const found = await whereabouts(remote, place, contextId, { ...about(), signal }, now())
    if (found === 'unknown') throw new LastWord(lostOnTheWay())
    if (found === 'send') {
      if (isResumed && isRedacted(turn.message)) throw new LastWord(secretIsGone())
      return 'send'
    }
    await move(found)
    return 'look'
  }

  /** Whether a message that could not be sent may be sent again, otherwise, or looked for. */
  async function mayGoOn(error: A2AError): Promise<boolean> {
    if (way === 'find') return true
    if (mayHaveArrived(error)) {
      way = 'find'
      return true
    }
    if (await hasMovedOn(error)) return true
    return dropWhatIsRefused(error)
  }

  /** The task that asked has gone on without us, or has ended: then that is what is to be told (B-43, B-156). */
  async function hasMovedOn({ code }: A2AError): Promise<boolean> {
    const { taskId } = place
    if (taskId === undefined || !/^(UNSUPPORTED_OPERATION|INVALID_PARAMS|INVALID_REQUEST)$/.test(code)) return false
    const task = await remote.get(taskId, about()).catch(() => undefined)
    if (task === undefined || isInterrupted(task.status.state)) return false
    await move({ taskId })
    way = 'look'
    return true
  }

  /** What we added to the message: they may not want notifications to go where we say, nor contexts of our making (B-56). */
  function dropWhatIsRefused({ code }: A2AError): boolean {
    if (push !== undefined && /^(INVALID_PARAMS|PUSH_NOTIFICATION_NOT_SUPPORTED|PERMISSION_DENIED)$/.test(code)) {
      push = undefined
      refusesHooks.add(remote)
      return true
    }
    if (contextId === undefined || !/^(INVALID_PARAMS|CONTEXT_REJECTED)$/.test(code)) return false
    contextId = undefined
    return true
  }
}

/** Our own log does not take it: the turn is over, or the store is away. Nothing more can be told. */
export class NotKept extends Error {}

/** There is nothing more to be had, and this is to be said. */
class LastWord extends Error {
  readonly report: Report
  constructor(report: Report) {
    super('the last word')
    this.report = report
  }
}

/** May be otherwise in a while. What a peer calls an internal error often is. */
function isTransient(error: A2AError): boolean {
  return error.retryable || error.code === 'INTERNAL'
}
