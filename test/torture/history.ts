/** What a torture run records: everything that clients sent and received, and what agents and backups observed. */
import type { TaskState } from '../../packages/a2a/src/model/state.ts'
import type { Artifact, Task } from '../../packages/a2a/src/model/task.ts'
import type { TaskLog, SentMessage, SubscriberHistory } from '../cluster/check-history.ts'
import type { Arrival } from '../push/faulty-receiver.ts'

/** A task as an answer showed it: its state, and the text of each artifact unless the answer left artifacts out. */
export interface TaskView {
  readonly state: TaskState
  readonly texts?: Readonly<Record<string, string>>
}

/** One answer that showed a task: to a poll, a send, a cancel, or as an entry of a list. */
export interface PolledTask {
  /** Answers to one client are compared in order. */
  readonly client: string
  readonly taskId: string
  readonly view: TaskView
}

/** All answers to one message, which is resent until there is one, or sent twice on purpose. */
export interface Resend {
  readonly messageId: string
  readonly taskIds: readonly string[]
}

/** All pages of one context, read in order. */
export interface ListedTasks {
  readonly contextId: string
  /** Tasks of the context that had been acknowledged when the first page was requested. */
  readonly expected: readonly string[]
  readonly pages: readonly (readonly string[])[]
}

/** A cancel and its answer. */
export interface Cancel {
  readonly taskId: string
  readonly outcome: 'canceled' | 'refused'
}

/** A call of an agent, as the agent itself recorded it. */
export interface Execution {
  readonly agent: string
  readonly messageId: string
  readonly attempt: number
  /** The process that called it. */
  readonly by: string
  /** On the machine's monotonic clock, which all processes share. Absent where a program cannot read it. */
  readonly atNs?: number
}

/** When a client first learned that a message is durable, on the same clock. */
export interface Acknowledgement {
  readonly messageId: string
  readonly atNs: number
}

/** A webhook that was registered with a send. */
export interface WebhookHistory {
  readonly taskId: string
  /** Of its arrivals: path and config. */
  readonly key: string
}

/** A copy of the database, taken while the hub ran. */
export interface Backup {
  readonly name: string
  /** The highest seq of each task that any client had received when the backup began. */
  readonly receivedBefore: ReadonlyMap<string, number>
  readonly logs: readonly TaskLog[]
}

export interface TortureHistory {
  readonly streams: readonly SubscriberHistory[]
  readonly sent: readonly SentMessage[]
  readonly polls: readonly PolledTask[]
  readonly resends: readonly Resend[]
  readonly listings: readonly ListedTasks[]
  readonly cancels: readonly Cancel[]
  readonly executions: readonly Execution[]
  readonly acknowledgements: readonly Acknowledgement[]
  readonly hooks: readonly WebhookHistory[]
  readonly arrivals: readonly Arrival[]
  readonly backups: readonly Backup[]
  /** The logs after the run. */
  readonly logs: readonly TaskLog[]
  /** Agents that the hub calls only after the message is durable. */
  readonly durableAgents: readonly string[]
  /** Whether writes of the store failed at times. A message that could not be written may have been run, and is run again when resent. */
  readonly hadStoreFaults: boolean
}

export function viewOf({ status, artifacts }: Task, withTexts = true): TaskView {
  if (!withTexts) return { state: status.state }
  const texts = (artifacts ?? []).map((artifact) => [artifact.artifactId, textOf(artifact)] as const)
  return { state: status.state, texts: Object.fromEntries(texts) }
}

export function textOf({ parts }: Pick<Artifact, 'parts'>): string {
  return parts.map((part) => ('text' in part ? part.text : JSON.stringify(part))).join('')
}
