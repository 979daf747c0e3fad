/** What a turn begins with, what it is given, and how the first message of a task was received. Types only. */
import type { Resumed } from '../agents/agent.ts'
import type { TurnOptions } from '../model/record.ts'
import type { Message, Task } from '../model/task.ts'
import type { IdempotencyKey } from '../stores/store.ts'
import type { AgentEntry, EngineLog } from './contract.ts'
import type { Live } from './live.ts'

/** What a turn is about. */
export interface TurnInput {
  readonly message: Message
  readonly options: TurnOptions
  readonly turn: number
  readonly attempt: number
  /** The messages up to here are this turn's. */
  readonly consumedSeq: number
  /** Set for the first turn of a task that is not in the log yet. */
  readonly opening?: { readonly idempotency?: IdempotencyKey; readonly atOnce: boolean }
  /** Its start is already in the log. */
  readonly started?: true
  readonly resumed?: Resumed
  readonly reattach?: true
}

/** How the first message of a task was received. */
export type Opening = { readonly reply: Message } | { readonly submittedSeq: number }

export interface RunParts {
  readonly live: Live
  readonly entry: AgentEntry
  readonly log: EngineLog
  readonly now: () => number
  /** JSON values in one value that the agent reports. */
  readonly jsonNodes: number
  readonly monotonicNow: () => number
  /** The question of a running turn was not answered in time. */
  expireInput(): void
  /** The next turn is another agent's. */
  isReplaced(): boolean
  /** No turn is begun here any more: it is somebody else's. */
  isClosing(): boolean
  conversation(live: Live): Promise<readonly Task[]>
  referenced(live: Live, message: Message): Promise<readonly Task[]>
}

export interface ActiveTurnParts extends RunParts {
  readonly opening: { resolve(opening: Opening): void; reject(reason: unknown): void }
  isStopped(): boolean
  orStop<T>(value: Promise<T>): Promise<T | undefined>
  expire(): void
}
