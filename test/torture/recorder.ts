/** Keeps what the clients of one round sent and were told, until the round is checked. */
import type { Task } from '../../packages/a2a/src/model/task.ts'
import type { SentMessage, SubscriberHistory } from '../cluster/check-history.ts'
import type { Writable } from '../cluster/retrying-calls.ts'
import { viewOf } from './history.ts'
import type { Acknowledgement, Cancel, WebhookHistory, ListedTasks, PolledTask, Resend } from './history.ts'

export interface Recorder {
  readonly told: Writable<SubscriberHistory>[]
  readonly sent: Writable<SentMessage>[]
  readonly polls: PolledTask[]
  readonly resends: Resend[]
  readonly listings: ListedTasks[]
  readonly cancels: Cancel[]
  readonly acknowledgements: Acknowledgement[]
  readonly hooks: WebhookHistory[]
  /** The highest seq of each task that any client has received. */
  readonly toldSeqs: Map<string, number>
  /** Why calls were retried, and how often. */
  readonly retries: Map<string, number>
  /** The message is durable: a client was told its task. */
  acknowledge(message: Writable<SentMessage>, taskId: string): void
  /** An event came with its cursor. */
  hear(taskId: string, seq: number): void
  show(client: string, task: Task, withTexts?: boolean): void
}

export function createRecorder(): Recorder {
  const acknowledgements: Acknowledgement[] = []
  const toldSeqs = new Map<string, number>()
  const polls: PolledTask[] = []
  return {
    told: [],
    sent: [],
    polls,
    resends: [],
    listings: [],
    cancels: [],
    acknowledgements,
    hooks: [],
    toldSeqs,
    retries: new Map(),
    acknowledge(message, taskId) {
      if (message.taskId !== undefined) return
      message.taskId = taskId
      acknowledgements.push({ messageId: message.messageId, atNs: Number(process.hrtime.bigint()) })
      if (!toldSeqs.has(taskId)) toldSeqs.set(taskId, 1)
    },
    hear(taskId, seq) {
      toldSeqs.set(taskId, Math.max(seq, toldSeqs.get(taskId) ?? 0))
    },
    show: (client, task, withTexts = true) =>
      void polls.push({ client, taskId: task.id, view: viewOf(task, withTexts) }),
  }
}
