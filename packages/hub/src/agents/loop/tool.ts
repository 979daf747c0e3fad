/** A tool of the loop, whatever its source: a function that the model may call by name. */
import type { AgentMessage, AgentSkill, Message, Part, Struct, Turn } from '@parley/a2a'
import type { OpenSpan } from '@parley/a2a/internal'
import type { HopState } from '../../delegation/hop.ts'

export interface LoopTool {
  /** The name given by its source. */
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: Struct
  /** Omitted for a tool that runs at the client: the task waits for its result. */
  run?(input: Struct, call: LoopToolCall): Promise<ToolOutcome>
  /** Timeout of one call; `Infinity` means only the turn's timeout applies. */
  readonly timeoutMs: number
  /** The agent of the hub that it calls: its work is found again after a restart. */
  readonly agent?: string
}

export interface LoopToolCall {
  readonly id: string
  readonly turn: Turn
  /** Also aborted when the call times out. */
  readonly signal: AbortSignal
  /** The span of the call; its own calls belong to it. */
  readonly span: OpenSpan
  /** The call to another agent, for a tool that makes one. */
  readonly child?: HopState
  /** Resolves when the state of the child is durable. */
  save(): Promise<void>
  /** Records that the child task exists. */
  startedChild(): Promise<void>
  /** The answer to the child's question. */
  readonly answer?: readonly Part[]
  /** Reports progress; throttled. */
  progress(text: string): void
  /** Asks the user during a call. The timeout pauses meanwhile. */
  ask(question: AgentMessage): Promise<Message>
}

export type ToolOutcome =
  | { readonly parts: readonly Part[]; readonly isError?: boolean }
  /** The child cannot continue without an answer. */
  | { readonly asks: ChildQuestion }

export interface ChildQuestion {
  readonly auth: boolean
  readonly message: AgentMessage
}

/** A source of tools. */
export interface ToolSource {
  /** The tools that the model may use in this turn. Rejects if the source cannot be reached. */
  tools(turn: Turn): Promise<readonly LoopTool[]>
  /** The skills for the card. */
  skills(signal: AbortSignal): Promise<readonly AgentSkill[]>
  /** Name for people: "the MCP server x". */
  readonly label: string
  close?(): Promise<void>
}
