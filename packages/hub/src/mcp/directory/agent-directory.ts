/**
 * The agents behind the MCP server, wherever they are: in this hub (local-directory.ts), at a hub that is called, or at any
 * address (client-directory.ts). A directory belongs to one caller: it lists and reaches only what that caller may use.
 */
import type { AgentSkill, Message, StreamEvent, Task } from '@parley/a2a'

export interface AgentDirectory {
  /** The agents that can be called by name. */
  agents(signal: AbortSignal): Promise<readonly AgentProfile[]>
  /**
   * Throws AGENT_UNAVAILABLE for an agent that does not exist or that this caller may not use, without revealing which
   * (B-153).
   */
  agent(name: string, signal: AbortSignal): Promise<DirectoryAgent>
  /** An agent at any address. Absent if the caller may not make the hub call addresses of its choice. */
  remote?(url: string, signal: AbortSignal): Promise<DirectoryAgent>
}

/** The description of an agent, the same for local and remote agents. */
export interface AgentProfile {
  /** The name for tools; undefined for an agent that was reached by its address. */
  readonly name?: string
  readonly title: string
  readonly description: string
  readonly version: string
  readonly url: string
  /** The skills that the caller may use. */
  readonly skills: readonly AgentSkill[]
  readonly inputModes: readonly string[]
  readonly outputModes: readonly string[]
  readonly provider?: string
  readonly documentationUrl?: string
  /** Whether it accepts messages now, as far as known. */
  readonly isAvailable: boolean
}

export interface DirectoryAgent {
  readonly profile: AgentProfile
  /** How a tool refers to it again. */
  readonly ref: AgentRef
  /** Resolves when the agent's turn has ended. Aborting the wait does not cancel the task. */
  send(message: Message, call: AgentCallOptions): Promise<AgentAnswer>
  /** Resolves when the task exists, without waiting for the agent. */
  start(message: Message, call: AgentCallOptions): Promise<AgentAnswer>
  /** Resolves when the running turn has ended; at once if none runs. */
  follow(taskId: string, call: AgentCallOptions): Promise<Task>
  get(taskId: string, historyLength: number, signal: AbortSignal): Promise<Task>
  cancel(taskId: string, signal: AbortSignal): Promise<Task>
}

export type AgentRef = { readonly agent: string } | { readonly url: string }

export interface AgentCallOptions {
  /** Aborts the wait. */
  readonly signal: AbortSignal
  onEvent(event: StreamEvent): void
  /** The trace that the call belongs to (W3C Trace Context). */
  readonly traceparent?: string
}

/** A task, or a message if the agent answers without one. */
export type AgentAnswer = { readonly task: Task } | { readonly message: Message }
