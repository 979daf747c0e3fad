/** Keeps what the clients of one round sent and received until the round is checked. */
import type { Task } from '../../packages/a2a/src/model/task.ts'
import type { SentMessage, SubscriberHistory } from '../cluster/check-history.ts'
import type { Writable } from '../cluster/retrying-calls.ts'
import { viewOf } from './history.ts'
import type { Acknowledgement, Cancel, WebhookHistory, ListedTasks, PolledTask, Resend } from './history.ts'

export interface Recorder {
  readonly streams: Writable<SubscriberHistory>[]
  readonly sent: Writable<SentMessage>[]
  readonly polls: PolledTask[]
  readonly resends: Resend[]
  readonly listings: ListedTasks[]
  readonly cancels: Cancel[]
  readonly acknowledgements: Acknowledgement[]
  readonly hooks: WebhookHistory[]
  /** The highest seq of each task that any client has received. */
  readonly receivedSeqs: Map<string, number>
  /** Why calls were retried, and how often. */
  readonly retries: Map<string, number>
  /** A client received the task of the message, so the message is durable. */
  acknowledge(message: Writable<SentMessage>, taskId: string): void
  /** A client received an event with its cursor. */
  recordEvent(taskId: string, seq: number): void
  show(client: string, task: Task, withTexts?: boolean): void
}

export function createRecorder(): Recorder {
  const acknowledgements: Acknowledgement[] = []
  const receivedSeqs = new Map<string, number>()
  const polls: PolledTask[] = []
  return {
    streams: [],
    sent: [],
    polls,
    resends: [],
    listings: [],
    cancels: [],
    acknowledgements,
    hooks: [],
    receivedSeqs,
    retries: new Map(),
    acknowledge(message, taskId) {
      if (message.taskId !== undefined) return
      message.taskId = taskId
      acknowledgements.push({ messageId: message.messageId, atNs: Number(process.hrtime.bigint()) })
      if (!receivedSeqs.has(taskId)) receivedSeqs.set(taskId, 1)
    },
    recordEvent(taskId, seq) {
      receivedSeqs.set(taskId, Math.max(seq, receivedSeqs.get(taskId) ?? 0))
    },
    show: (client, task, withTexts = true) =>
      void polls.push({ client, taskId: task.id, view: viewOf(task, withTexts) }),
  }
}
