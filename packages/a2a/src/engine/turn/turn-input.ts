/** The input of a turn, its dependencies, and the outcome of the first message of a task. Types only. */
import type { ResumeState } from '../../agents/agent.ts'
import type { TurnOptions } from '../../model/record.ts'
import type { Json, Message, Task } from '../../model/task.ts'
import type { IdempotencyKey } from '../../stores/store.ts'
import type { AgentEntry, EngineLog } from '../contract.ts'
import type { LoadedTask } from '../task/loaded-task.ts'

/** The input of a turn. */
export interface TurnInput {
  readonly message: Message
  readonly options: TurnOptions
  readonly turn: number
  readonly attempt: number
  /** The turn consumes the messages up to this seq. */
  readonly consumedSeq: number
  /** Set for the first turn of a task that is not in the log yet. */
  readonly opening?: {
    readonly idempotency?: IdempotencyKey
    readonly atOnce: boolean
    /** Whether the agent is called only once the opening is durable, whatever `openAfterMs` says. */
    readonly isAwaited: boolean
  }
  /** Its start is already in the log. */
  readonly started?: true
  readonly resumed?: ResumeState
  readonly reattach?: true
}

/** The outcome of the first message of a task. */
export type TaskOpening = { readonly reply: Message } | { readonly submittedSeq: number }

export interface TaskRunDeps {
  readonly loaded: LoadedTask
  readonly entry: AgentEntry
  readonly log: EngineLog
  readonly now: () => number
  /** The limit of JSON values in one value that the agent reports. */
  readonly jsonNodes: number
  readonly monotonicNow: () => number
  /** The question of a running turn timed out. */
  expireInput(): void
  /** The next turn belongs to another agent. */
  isReplaced(): boolean
  /** This process starts no more turns: another process runs them. */
  isClosing(): boolean
  conversation(loaded: LoadedTask): Promise<readonly Task[]>
  referenced(loaded: LoadedTask, message: Message): Promise<readonly Task[]>
  /** What the newest completed task of the conversation stored under a key. */
  earlierStored(loaded: LoadedTask, key: string): Promise<Json | undefined>
}

export interface TurnRunnerDeps extends TaskRunDeps {
  readonly opening: { resolve(opening: TaskOpening): void; reject(reason: unknown): void }
  isStopped(): boolean
  untilStopped<T>(value: Promise<T>): Promise<T | undefined>
  expire(): void
}
