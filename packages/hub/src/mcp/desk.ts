/**
 * What the bridge needs of the agents behind it, wherever they are: in this hub (house-desk.ts), at a hub that is called, or
 * anywhere (client-desk.ts). A desk is one caller's: it shows and reaches what that caller may use, and nothing else.
 */
import type { AgentSkill, Message, Part, StreamEvent, Task } from '@parley/a2a'

export interface Desk {
  /** Those that may be named. */
  agents(signal: AbortSignal): Promise<readonly AgentProfile[]>
  /** Throws AGENT_UNAVAILABLE for one that is not there, or not for this caller: nobody can tell which (B-153). */
  agent(name: string, signal: AbortSignal): Promise<DeskAgent>
  /** An agent at any address. Absent for callers who may not have the hub call addresses that they name. */
  remote?(url: string, signal: AbortSignal): Promise<DeskAgent>
}

/** What is told of an agent: the same for those of the hub and for others. */
export interface AgentProfile {
  /** By which tools call it; nothing for one that was reached by its address. */
  readonly name?: string
  readonly title: string
  readonly description: string
  readonly version: string
  readonly url: string
  /** Those that the caller may use. */
  readonly skills: readonly AgentSkill[]
  readonly inputModes: readonly string[]
  readonly outputModes: readonly string[]
  readonly provider?: string
  readonly documentationUrl?: string
  /** Whether it takes messages now, as far as is known. */
  readonly isAvailable: boolean
}

export interface DeskAgent {
  readonly profile: AgentProfile
  /** How a tool names it again. */
  readonly ref: AgentRef
  /** Resolves when the agent's turn is over. Leaving early ends nothing: what was begun goes on. */
  send(message: Message, call: DeskCall): Promise<DeskAnswer>
  /** Resolves when the task is there, and does not wait for the agent. */
  start(message: Message, call: DeskCall): Promise<DeskAnswer>
  /** Resolves when the turn that runs is over; at once if none does. */
  follow(taskId: string, call: DeskCall): Promise<Task>
  get(taskId: string, historyLength: number, signal: AbortSignal): Promise<Task>
  cancel(taskId: string, signal: AbortSignal): Promise<Task>
}

export type AgentRef = { readonly agent: string } | { readonly url: string }

export interface DeskCall {
  /** Ends the waiting. */
  readonly signal: AbortSignal
  onEvent(event: StreamEvent): void
  /** The trace that the call belongs to (W3C Trace Context). */
  readonly traceparent?: string
}

/** A task, or a message if the agent keeps none. */
export type DeskAnswer = { readonly task: Task } | { readonly message: Message }

/** Of parts and of messages: what people read of them. */
export function textOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n')
}

export function taskIdIn(event: StreamEvent): string | undefined {
  if ('task' in event) return event.task.id
  if ('statusUpdate' in event) return event.statusUpdate.taskId
  return 'artifactUpdate' in event ? event.artifactUpdate.taskId : undefined
}
