/**
 * Decides where the stream of a task begins: with the task at the time of the message, after the reader's cursor, or with the
 * current task. `follow` does the rest.
 */
import { taskBytes } from '../../model/json-nodes.ts'
import type { SendMessageRequest } from '../../model/operation.ts'
import { hasSettled, isTerminal } from '../../model/state.ts'
import type { Message, StreamEvent, Task, TaskStatus } from '../../model/task.ts'
import type { Store } from '../../stores/store.ts'
import type { AcceptedMessage } from '../message/accept-message.ts'
import type { AgentEntry, CallContext, TaskEventStream, StreamItem } from '../contract.ts'
import type { LogEvent } from './log-events.ts'
import { emptyFold, foldRecord, traceAt, taskView, withHistory, type TaskFold } from './fold.ts'
import { endsStreamAt, followLog } from './follow.ts'
import type { LoadedTask } from './loaded-task.ts'
import type { LogPages } from './log-pages.ts'

/** The limit of one read. */
const maxRead = 1_000
const maxReadBytes = 1_000_000

export type TaskStreams = ReturnType<typeof createTaskStreams>

export function createTaskStreams(store: Store, pages: LogPages) {
  const snapshots = new WeakMap<Task, StreamEvent>()

  return { ofMessage, resume, fromSnapshot }

  /** The stream in response to a message. */
  async function ofMessage(
    accepted: Exclude<AcceptedMessage, { reply: Message }>,
    { message, configuration }: SendMessageRequest,
    context: CallContext,
    entry: AgentEntry,
  ): Promise<TaskEventStream> {
    const { loaded, submittedSeq, repeated } = accepted
    const historyLength = configuration?.historyLength
    if (repeated === true) {
      const resumed = await resume(loaded, context, entry)
      if (resumed === undefined) return replay(loaded, entry, message.messageId, historyLength)
      // A reader that has seen the question has seen everything that this stream would send.
      const hasAll =
        (context.lastEventId ?? -1) >= loaded.fold.statusSeq && isSettled(loaded) && endsAtStatus(loaded, entry)
      return hasAll ? emptyStream() : resumed
    }
    if (submittedSeq === undefined) {
      return fromSnapshot(loaded, entry, isSettled(loaded) && endsAtStatus(loaded, entry), historyLength)
    }
    return from(loaded, entry, taskAtSubmission(loaded, submittedSeq), submittedSeq, historyLength)
  }

  /**
   * All events of the first stream of the message, and all since (B-163). If the log was pruned: the current task, marked as a gap.
   */
  async function replay(
    loaded: LoadedTask,
    entry: AgentEntry,
    messageId: string,
    historyLength: number | undefined,
  ): Promise<TaskEventStream> {
    const then = await foldUpTo(loaded, messageId, entry.options.coalesceText)
    if (then === undefined) {
      return fromSnapshot(loaded, entry, isSettled(loaded) && endsAtStatus(loaded, entry), historyLength, true)
    }
    return from(loaded, entry, taskView(then), then.head, historyLength)
  }

  /** The task at the time of the message; `undefined` if the log no longer reaches back so far. */
  async function foldUpTo(loaded: LoadedTask, messageId: string, coalesceText: boolean): Promise<TaskFold | undefined> {
    const { id, contextId, status, metadata, head } = loaded.fold
    const into = emptyFold(id, contextId, status, metadata)
    let isFound = false
    while (into.head < head) {
      const records = await store.tasks.read(id, into.head, maxRead, maxReadBytes)
      if (records.length === 0) return undefined
      for (const record of records) {
        if (record.seq !== into.head + 1) return undefined
        foldRecord(into, record, coalesceText)
        const { body } = record
        isFound ||= body.type === 'message' && body.message.messageId === messageId
        // The first message precedes the first status of the task.
        if (isFound && into.statusSeq > 0) return into
      }
    }
    return undefined
  }

  function from(
    loaded: LoadedTask,
    entry: AgentEntry,
    task: Task,
    seq: number,
    historyLength: number | undefined,
  ): TaskEventStream {
    const event = { task: withHistory(task, historyLength) }
    const first: StreamItem = {
      event,
      seq,
      final: false,
      traceparent: traceAt(loaded.fold, seq),
      bytes: taskBytes(task),
    }
    return followLog(loaded, pages, { afterSeq: seq, first, isEnd: endsStreamAt(entry) })
  }

  /** The events after the reader's cursor, if it has one; a snapshot marked as a gap if the log no longer reaches back. */
  async function resume(
    loaded: LoadedTask,
    { lastEventId }: CallContext,
    entry: AgentEntry,
  ): Promise<TaskEventStream | undefined> {
    if (lastEventId === undefined || lastEventId > loaded.fold.head) return undefined
    const firstSeq = await store.tasks.firstSeq(loaded.id)
    if (firstSeq <= lastEventId + 1)
      return followLog(loaded, pages, { afterSeq: lastEventId, isEnd: endsStreamAt(entry) })
    return fromSnapshot(loaded, entry, isTerminal(loaded.fold.status.state), undefined, true)
  }

  /** The snapshot and the log position are read together: no event is missed or repeated (B-105). */
  function fromSnapshot(
    loaded: LoadedTask,
    entry: AgentEntry,
    final: boolean,
    historyLength: number | undefined,
    gap?: true,
  ): TaskEventStream {
    const seq = loaded.fold.head
    const event = snapshotEvent(taskView(loaded.fold), historyLength)
    const traceparent = traceAt(loaded.fold, seq)
    const { bytes } = loaded.fold
    const first: StreamItem = { event, seq, final, traceparent, bytes, ...(gap !== undefined ? { gap } : {}) }
    return followLog(loaded, pages, { afterSeq: seq, first, isEnd: endsStreamAt(entry) })
  }

  /** The same object for all readers of the same view: encodings are cached by it. */
  function snapshotEvent(view: Task, historyLength?: number): StreamEvent {
    const task = withHistory(view, historyLength)
    let event = snapshots.get(task)
    if (event === undefined) snapshots.set(task, (event = { task }))
    return event
  }
}

/** The task at its opening: where its first stream begins. */
function taskAtSubmission(loaded: LoadedTask, seq: number): Task {
  const { id, contextId, history, metadata } = loaded.fold
  const opened = loaded.tail.find((event: LogEvent) => event.seq === seq)
  // A first batch of megabytes may have pushed it out of the tail; its content is known anyway.
  const status: TaskStatus =
    opened !== undefined && 'statusUpdate' in opened.event
      ? opened.event.statusUpdate.status
      : { state: 'TASK_STATE_SUBMITTED' }
  return { id, contextId, status, history: history.slice(0, 1), ...(metadata !== undefined ? { metadata } : {}) }
}

/** Nothing runs and nothing waits to run: what a blocking send waits for (B-63). */
export function isSettled(loaded: LoadedTask): boolean {
  const { state } = loaded.fold.status
  return isTerminal(state) || (hasSettled(state) && loaded.fold.waiting.length === 0)
}

function endsAtStatus({ fold: { status } }: LoadedTask, entry: AgentEntry): boolean {
  return isTerminal(status.state) || endsStreamAt(entry)(status.state)
}

async function* emptyStream(): TaskEventStream & AsyncGenerator<readonly StreamItem[]> {}
