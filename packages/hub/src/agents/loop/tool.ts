/** What a tool is to the loop, wherever it comes from: something the model may call by name. */
import type { AgentMessage, AgentSkill, Message, OpenSpan, Part, Struct, Turn } from '@parley/a2a'
import type { HopState } from '../../delegation/hop.ts'

export interface Tool {
  /** As its source names it. */
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: Struct
  /** Left out by a tool that runs at the client: the task waits for its result. */
  run?(input: Struct, call: ToolCall): Promise<ToolOutcome>
  /** How long one call may take; `Infinity` is no limit but the turn's. */
  readonly timeoutMs: number
  /** The agent of the hub that it hands work on to: what it did is found again after a restart. */
  readonly agent?: string
}

/** One call of it. */
export interface ToolCall {
  readonly id: string
  readonly turn: Turn
  /** Aborted when its time is up, too. */
  readonly signal: AbortSignal
  /** Of the trace: what it calls belongs to it. */
  readonly span: OpenSpan
  /** The work that is handed on, for a tool that does. */
  readonly child?: HopState
  /** Resolves when what is known of the child is durable. */
  save(): Promise<void>
  /** There is a child from now on. */
  startedChild(): Promise<void>
  /** What the child's question was answered with. */
  readonly answer?: readonly Part[]
  /** For whoever watches; told now and then. */
  progress(text: string): void
  /** The person at the other end, in the middle of a call; whose time does not count. */
  ask(question: AgentMessage): Promise<Message>
}

export type ToolOutcome =
  | { readonly parts: readonly Part[]; readonly isError?: boolean }
  /** The child cannot go on without an answer. */
  | { readonly asks: ChildQuestion }

export interface ChildQuestion {
  readonly auth: boolean
  readonly message: AgentMessage
}

/** Where tools come from. */
export interface ToolSource {
  /** What of it a model may be told of in this turn. Rejects if it cannot be reached. */
  tools(turn: Turn): Promise<readonly Tool[]>
  /** What the card says of it. */
  skills(signal: AbortSignal): Promise<readonly AgentSkill[]>
  /** For people: "the MCP server x". */
  readonly label: string
  close?(): Promise<void>
}
