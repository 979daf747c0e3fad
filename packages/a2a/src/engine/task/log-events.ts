/** The visible records of a log as events: for streams and webhooks, the newest of them in memory, and for listeners. */
import type { RecordBody } from '../../model/record.ts'
import type { StreamEvent } from '../../model/task.ts'
import type { Append, Partition } from '../../stores/store.ts'
import type { AgentEntry, EngineLog, EventContext, OnEvent, StreamItem } from '../contract.ts'

/** An event of a stream: one object for all readers except those whose stream it ends. */
export interface LogEvent extends StreamItem {
  readonly seq: number
  readonly final: false
  readonly at: number
  readonly bytes: number
}

/** The event of a record, or `undefined` if the record is internal. */
export function eventOfRecord(taskId: string, contextId: string, body: RecordBody): StreamEvent | undefined {
  if (body.type === 'status') {
    const { type: _, ...rest } = body
    return { statusUpdate: { taskId, contextId, ...rest } }
  }
  if (body.type === 'artifact') {
    const { type: _, ...rest } = body
    return { artifactUpdate: { taskId, contextId, ...rest } }
  }
  return undefined
}

// The newest events of a task, in memory for readers that keep up. Others read the store.

const maxEvents = 2_048
const maxBytes = 4_000_000
/** Bounds of one batch for a reader. */
const maxBatch = 1_000
const maxBatchBytes = 256_000

export class EventTail {
  /** All visible events after this seq are in `events`. */
  from: number
  #events: LogEvent[] = []
  #bytes = 0
  #lastBatch: { readonly after: number; readonly lastSeq: number; readonly events: readonly LogEvent[] } | undefined

  constructor(from: number) {
    this.from = from
  }

  get events(): readonly LogEvent[] {
    return this.#events
  }

  push(event: LogEvent): void {
    this.#events.push(event)
    this.#bytes += event.bytes
  }

  /** Drops half of the events at a time, so that each event is moved once on average. */
  trim(): void {
    if (this.#events.length <= maxEvents && this.#bytes <= maxBytes) return
    const dropped = Math.ceil(this.#events.length / 2)
    if (dropped > 0) this.from = (this.#events[dropped - 1] as LogEvent).seq
    for (const { bytes } of this.#events.splice(0, dropped)) this.#bytes -= bytes
    this.#lastBatch = undefined
  }

  /** Drops all events: the next reader reads the store. */
  clear(): void {
    this.from = this.#events.at(-1)?.seq ?? this.from
    this.#events = []
    this.#bytes = 0
    this.#lastBatch = undefined
  }

  /**
   * The next batch of events after a seq. Readers at the same position get the same array, so that slow readers share memory with
   * the others.
   */
  after(seq: number): readonly LogEvent[] {
    const all = this.#events
    const lastSeq = all.at(-1)?.seq ?? 0
    const given = this.#lastBatch
    if (given !== undefined && given.after === seq && given.lastSeq === lastSeq) return given.events
    // Searched from the end, where a reader that keeps up always is.
    let from = all.length
    while (from > 0 && (all[from - 1] as LogEvent).seq > seq) from -= 1
    const most = Math.min(all.length, from + maxBatch)
    let to = from
    for (let bytes = 0; to < most && bytes < maxBatchBytes; to += 1) bytes += (all[to] as LogEvent).bytes
    const events = all.slice(from, to)
    this.#lastBatch = events.length === 0 ? undefined : { after: seq, lastSeq, events }
    return events
  }
}

/** The task of an event, as listeners need it. */
interface LoggedTask {
  readonly id: string
  readonly partition: Partition
  readonly fold: { readonly contextId: string }
}

/** Calls `onEvent` of an agent with each logged event: afterwards, once per event, and without blocking. */
export function createEventListener(agent: (name: string) => AgentEntry | undefined, log: EngineLog) {
  return (task: LoggedTask, records: Append['records'], firstSeq: number): void => {
    const onEvent = agent(task.partition.agent)?.onEvent
    if (onEvent === undefined) return
    const about = eventContextOf(task)
    records.forEach(({ body }, index) => {
      const event = eventOfRecord(task.id, task.fold.contextId, body)
      if (event !== undefined) callListener(onEvent, event, { ...about, seq: firstSeq + index }, log)
    })
  }
}

export function eventContextOf({ id, fold, partition }: LoggedTask): EventContext {
  return { ...partition, taskId: id, contextId: fold.contextId }
}

/** An error in a listener does not affect the task. */
function callListener(
  onEvent: OnEvent,
  event: Parameters<OnEvent>[0],
  about: Parameters<OnEvent>[1],
  log: EngineLog,
): void {
  const failed = (cause: unknown): void => {
    log.error('onEvent failed', { agent: about.agent, taskId: about.taskId, seq: about.seq, cause })
  }
  try {
    const result = onEvent(event, about)
    if (result instanceof Promise) result.catch(failed)
  } catch (reason) {
    failed(reason)
  }
}
