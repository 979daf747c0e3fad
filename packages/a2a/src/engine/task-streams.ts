/**
 * Where the stream of a task begins: with the task as it was when the message came, after the reader's cursor, or with the
 * task as it is now. `follow` does the rest.
 */
import { taskBytes } from '../model/json-bytes.ts'
import type { SendMessageRequest } from '../model/operation.ts'
import { hasSettled, isTerminal } from '../model/state.ts'
import type { Message, StreamEvent, Task, TaskStatus } from '../model/task.ts'
import type { Store } from '../stores/store.ts'
import type { Accepted } from './accept.ts'
import type { AgentEntry, CallContext, EventStream, StreamItem } from './contract.ts'
import type { TailEvent } from './event-of.ts'
import { emptyFold, fold, traceAt, viewOf, withHistory } from './fold.ts'
import type { Fold } from './fold.ts'
import { endsAt, follow } from './follow.ts'
import type { Live } from './live.ts'
import type { LogPages } from './log-pages.ts'

/** What one read returns. */
const maxRead = 1_000
const maxReadBytes = 1_000_000

export type TaskStreams = ReturnType<typeof createTaskStreams>

export function createTaskStreams(store: Store, pages: LogPages) {
  const snapshots = new WeakMap<Task, StreamEvent>()

  return { ofMessage, resume, fromSnapshot }

  /** The stream that a message is answered with. */
  async function ofMessage(
    accepted: Exclude<Accepted, { reply: Message }>,
    { message, configuration }: SendMessageRequest,
    context: CallContext,
    entry: AgentEntry,
  ): Promise<EventStream> {
    const { live, submittedSeq, repeated } = accepted
    const historyLength = configuration?.historyLength
    if (repeated === true) {
      const resumed = await resume(live, context, entry)
      if (resumed === undefined) return replay(live, entry, message.messageId, historyLength)
      // A reader that has seen the question has seen all that this stream would send.
      const hasAll = (context.lastEventId ?? -1) >= live.fold.statusSeq && isAtRest(live) && closesAt(live, entry)
      return hasAll ? nothing() : resumed
    }
    if (submittedSeq === undefined) {
      return fromSnapshot(live, entry, isAtRest(live) && closesAt(live, entry), historyLength)
    }
    return from(live, entry, submitted(live, submittedSeq), submittedSeq, historyLength)
  }

  /**
   * All events of the first stream of the message, and what came since (B-163). Where the log was pruned: the task as it is
   * now, marked as a gap.
   */
  async function replay(
    live: Live,
    entry: AgentEntry,
    messageId: string,
    historyLength: number | undefined,
  ): Promise<EventStream> {
    const then = await foldUpTo(live, messageId, entry.options.coalesceText)
    if (then === undefined) {
      return fromSnapshot(live, entry, isAtRest(live) && closesAt(live, entry), historyLength, true)
    }
    return from(live, entry, viewOf(then), then.head, historyLength)
  }

  /** The task as it was when the message had come; `undefined` if the log no longer reaches back so far. */
  async function foldUpTo(live: Live, messageId: string, coalesceText: boolean): Promise<Fold | undefined> {
    const { id, contextId, status, metadata, head } = live.fold
    const into = emptyFold(id, contextId, status, metadata)
    let isFound = false
    while (into.head < head) {
      const records = await store.read(id, into.head, maxRead, maxReadBytes)
      if (records.length === 0) return undefined
      for (const record of records) {
        if (record.seq !== into.head + 1) return undefined
        fold(into, record, coalesceText)
        const { body } = record
        isFound ||= body.type === 'message' && body.message.messageId === messageId
        // The first message stands before the task's first status.
        if (isFound && into.statusSeq > 0) return into
      }
    }
    return undefined
  }

  function from(
    live: Live,
    entry: AgentEntry,
    task: Task,
    seq: number,
    historyLength: number | undefined,
  ): EventStream {
    const event = { task: withHistory(task, historyLength) }
    const first: StreamItem = { event, seq, final: false, traceparent: traceAt(live.fold, seq), bytes: taskBytes(task) }
    return follow(live, pages, { afterSeq: seq, first, endsAt: endsAt(entry) })
  }

  /** The events after the reader's cursor, if it has one; a snapshot marked as a gap where the log no longer reaches back. */
  async function resume(live: Live, { lastEventId }: CallContext, entry: AgentEntry): Promise<EventStream | undefined> {
    if (lastEventId === undefined || lastEventId > live.fold.head) return undefined
    const firstSeq = await store.firstSeq(live.id)
    if (firstSeq <= lastEventId + 1) return follow(live, pages, { afterSeq: lastEventId, endsAt: endsAt(entry) })
    return fromSnapshot(live, entry, isTerminal(live.fold.status.state), undefined, true)
  }

  /** The snapshot and the place in the log are taken in one go: nothing falls between them, nothing comes twice (B-105). */
  function fromSnapshot(
    live: Live,
    entry: AgentEntry,
    final: boolean,
    historyLength: number | undefined,
    gap?: true,
  ): EventStream {
    const seq = live.fold.head
    const event = snapshotEvent(viewOf(live.fold), historyLength)
    const traceparent = traceAt(live.fold, seq)
    const { bytes } = live.fold
    const first: StreamItem = { event, seq, final, traceparent, bytes, ...(gap !== undefined ? { gap } : {}) }
    return follow(live, pages, { afterSeq: seq, first, endsAt: endsAt(entry) })
  }

  /** The same object for all readers of the same view: encodings are cached by it. */
  function snapshotEvent(view: Task, historyLength?: number): StreamEvent {
    const task = withHistory(view, historyLength)
    let event = snapshots.get(task)
    if (event === undefined) snapshots.set(task, (event = { task }))
    return event
  }
}

/** The task as it was when it opened: where its first stream begins. */
function submitted(live: Live, seq: number): Task {
  const { id, contextId, history, metadata } = live.fold
  const opened = live.tail.find((event: TailEvent) => event.seq === seq)
  // A first batch of megabytes may have pushed it out of the tail; what it said is known all the same.
  const status: TaskStatus =
    opened !== undefined && 'statusUpdate' in opened.event
      ? opened.event.statusUpdate.status
      : { state: 'TASK_STATE_SUBMITTED' }
  return { id, contextId, status, history: history.slice(0, 1), ...(metadata !== undefined ? { metadata } : {}) }
}

/** Nothing runs and nothing waits to run: what a blocking send waits for (B-63). */
export function isAtRest(live: Live): boolean {
  const { state } = live.fold.status
  return isTerminal(state) || (hasSettled(state) && live.fold.waiting.length === 0)
}

function closesAt({ fold: { status } }: Live, entry: AgentEntry): boolean {
  return isTerminal(status.state) || endsAt(entry)(status.state)
}

async function* nothing(): EventStream & AsyncGenerator<readonly StreamItem[]> {}
