/**
 * Checks a recorded history: what every subscriber received, what every sender got as a response, which faults hit replicas, and
 * the final logs. Pure, so that check-history.test.ts can give it invalid histories: a checker that reports nothing
 * proves nothing until it has reported something.
 */
import { isDeepStrictEqual } from 'node:util'
import { eventOfRecord, type LogRecord } from '../../packages/a2a/src/model/record.ts'
import { isTerminal, type TaskState } from '../../packages/a2a/src/model/state.ts'
import type { StreamEvent } from '../../packages/a2a/src/model/task.ts'

/** What one subscriber received of a task over all its connections. The first event is a snapshot. */
export interface SubscriberHistory {
  readonly subscriber: string
  readonly taskId: string
  readonly events: readonly { readonly seq: number; readonly event: StreamEvent }[]
  /** Whether its stream reached the end of the task. */
  readonly finished: boolean
}

/** A message, and its outcome as far as its sender knows. */
export interface SentMessage {
  readonly messageId: string
  /** Set once a server has acknowledged the message. */
  readonly taskId?: string
  /** A terminal state that the sender received. */
  readonly state?: TaskState
}

/** The log of a task after the run. */
export interface TaskLog {
  readonly taskId: string
  readonly contextId: string
  readonly records: readonly LogRecord[]
}

/** From then on a replica could not continue its turns. */
export interface Outage {
  readonly replica: string
  readonly at: number
  /** Another replica must have resumed it by then. */
  readonly boundMs: number
}

export interface ClusterHistory {
  readonly streams: readonly SubscriberHistory[]
  readonly sent: readonly SentMessage[]
  readonly logs: readonly TaskLog[]
  readonly outages: readonly Outage[]
}

/** The violations, one sentence each. */
export function checkClusterHistory({ streams, sent, logs, outages }: ClusterHistory): readonly string[] {
  const byId = new Map(logs.map((log) => [log.taskId, log]))
  return [
    ...logs.flatMap(checkLog),
    ...streams.flatMap((one) => checkSubscriber(one, byId.get(one.taskId))),
    ...checkSent(sent, byId),
    ...outages.flatMap((outage) => logs.flatMap((log) => checkTakeOver(outage, log))),
  ]
}

interface ChunkMark {
  readonly by: string
  readonly attempt: number
}

/** The agents of these tests report the replica and the attempt that ran them. */
function markOf({ body }: LogRecord): ChunkMark | undefined {
  const metadata = body.type === 'artifact' ? body.artifact.metadata : undefined
  return typeof metadata?.['by'] === 'string' ? (metadata as unknown as ChunkMark) : undefined
}

function isEnd({ body }: LogRecord): boolean {
  return body.type === 'status' && isTerminal(body.status.state)
}

function checkLog({ taskId, records }: TaskLog): readonly string[] {
  const wrong: string[] = []
  const ends = records.filter(isEnd)
  if (ends.length === 0) wrong.push(`${taskId} is stuck: it never ended`)
  if (ends.length > 1) wrong.push(`${taskId} ended ${ends.length} times`)
  if (ends.length > 0 && records.at(-1) !== ends[0]) wrong.push(`${taskId} went on after its end`)
  records.forEach(({ seq }, index) => {
    if (seq !== index + 1) wrong.push(`${taskId} has record ${seq} where ${index + 1} belongs`)
  })
  return [...wrong, ...checkAttempts(taskId, records), ...checkCounts(taskId, records)]
}

/** After a turn was restarted, its former holder writes nothing. */
function checkAttempts(taskId: string, records: readonly LogRecord[]): readonly string[] {
  let attempt = 1
  let owner: string | undefined
  const wrong: string[] = []
  for (const record of records) {
    const { body, seq } = record
    if (body.type === 'turn-started') {
      attempt = body.attempt
      owner = undefined
    }
    const mark = markOf(record)
    if (mark === undefined) continue
    owner ??= mark.by
    if (mark.attempt !== attempt) {
      wrong.push(`${taskId} has at ${seq} what attempt ${mark.attempt} said during attempt ${attempt}`)
    } else if (mark.by !== owner) wrong.push(`${taskId} was written at ${seq} by ${mark.by}, and is ${owner}'s`)
  }
  return wrong
}

/** A counting agent starts at 0 and skips no number. */
function checkCounts(taskId: string, records: readonly LogRecord[]): readonly string[] {
  const next = new Map<string, number>()
  for (const { body, seq } of records) {
    if (body.type !== 'artifact' || !body.artifact.artifactId.startsWith('count ')) continue
    const due = next.get(body.artifact.artifactId) ?? 0
    const part = body.artifact.parts[0]
    const text = part !== undefined && 'text' in part ? part.text : ''
    if (text !== `${due} `) return [`${taskId} counts ${JSON.stringify(text)} at ${seq} where ${due} is due`]
    next.set(body.artifact.artifactId, due + 1)
  }
  return []
}

function checkSubscriber(
  { subscriber, taskId, events, finished }: SubscriberHistory,
  log: TaskLog | undefined,
): readonly string[] {
  const who = `${subscriber} of ${taskId}`
  if (log === undefined) return [`${who} received events of a task that does not exist: it was lost`]
  const wrong: string[] = []
  const seen = new Set<number>()
  let last = 0
  for (const { seq } of events) {
    if (seen.has(seq)) wrong.push(`${who} received ${seq} twice`)
    else if (seq < last) wrong.push(`${who} received ${seq} after ${last}: out of order`)
    seen.add(seq)
    last = Math.max(last, seq)
  }
  const first = events[0]
  if (first === undefined) return finished ? [`${who} reached the end and received nothing`] : []
  const visible = new Map(
    log.records.flatMap(({ seq, body }) => {
      const event = eventOfRecord(taskId, log.contextId, body)
      return event === undefined ? [] : [[seq, event] as const]
    }),
  )
  for (const [seq] of visible) {
    const isDue = seq > first.seq && (seq <= last || finished)
    if (isDue && !seen.has(seq)) wrong.push(`${who} did not receive ${seq}: lost in transit`)
  }
  for (const { seq, event } of events.slice(1)) {
    const logged = visible.get(seq)
    if (logged === undefined)
      wrong.push(`${who} received ${seq}, which is not in the log: an acknowledged event was lost`)
    else if (!isDeepStrictEqual(event, logged)) wrong.push(`${who} received something else at ${seq} than the log has`)
  }
  return wrong
}

function checkSent(sent: readonly SentMessage[], logs: ReadonlyMap<string, TaskLog>): readonly string[] {
  const found = new Map<string, string[]>()
  for (const { taskId, records } of logs.values()) {
    for (const { body } of records) {
      if (body.type !== 'message') continue
      const { messageId } = body.message
      found.set(messageId, [...(found.get(messageId) ?? []), taskId])
    }
  }
  return sent.flatMap(({ messageId, taskId, state }) => {
    const places = found.get(messageId) ?? []
    if (places.length > 1) return [`message ${messageId} was taken ${places.length} times: ${places.join(', ')}`]
    if (taskId === undefined) return []
    if (places[0] !== taskId) return [`message ${messageId} was acknowledged by ${taskId} and is not in its log: lost`]
    const end = logs.get(taskId)?.records.findLast(isEnd)?.body
    const ended = end?.type === 'status' ? end.status.state : undefined
    return state === undefined || state === ended ? [] : [`${taskId} was said to be ${state} and is ${ended}`]
  })
}

/** Another replica must resume the turns of the stopped replica in time, or they must end. */
function checkTakeOver(outage: Outage, log: TaskLog): readonly string[] {
  const ms = takeOverMs(outage, log)
  const { replica, boundMs } = outage
  if (ms === Infinity) return [`${log.taskId} was not taken over from ${replica}`]
  if (ms === undefined || ms <= boundMs) return []
  return [`${log.taskId} was taken over from ${replica} after ${ms} ms; ${boundMs} are allowed`]
}

/** The time until the task was resumed; `undefined` if the replica did not run it. */
export function takeOverMs({ replica, at }: Outage, { records }: TaskLog): number | undefined {
  const before = records.filter((record) => record.at <= at)
  const started = before.findLastIndex(({ body }) => body.type === 'turn-started')
  const turn = before.slice(started)
  const last = turn.findLast(({ body }) => body.type === 'status' || body.type === 'turn-ended')?.body
  const state = last?.type === 'status' ? last.status.state : undefined
  // A task that waits for input or has ended has no holder.
  if (started < 0 || (state !== 'TASK_STATE_WORKING' && state !== 'TASK_STATE_SUBMITTED')) return undefined
  if (!turn.some((record) => markOf(record)?.by === replica)) return undefined
  // Appends in flight at the outage may still have been written: the next start of a turn or the end counts.
  const next = records.find((record) => record.at > at && (record.body.type === 'turn-started' || isEnd(record)))
  return next === undefined ? Infinity : next.at - at
}
