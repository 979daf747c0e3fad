/** What a tool knows of the call that it answers, whichever transport and version of MCP it came by. */
import type { CallToolResult, ClientCapabilities, InputRequiredResult } from '@modelcontextprotocol/server'
import type { AgentLog } from '@parley/a2a'
import type { Desk } from './desk.ts'
import type { Progress } from './progress.ts'

export interface BridgeSettings {
  /** `skills`: beside the others, a tool for each skill of each agent. */
  readonly tools: 'agents' | 'skills'
  /** How long a tool waits for an agent unless it is told otherwise. */
  readonly waitMs: number
}

export interface ToolCall {
  readonly desk: Desk
  readonly settings: BridgeSettings
  /** Aborted when whoever called wants it to end, or has gone. */
  readonly signal: AbortSignal
  /** Whether it is aborted because somebody wants it to end: a connection that is lost ends nothing (B-103). */
  isStopped(): boolean
  readonly log: AgentLog
  /** What the client can be asked for. Nothing is known of one that keeps no session. */
  readonly capabilities: ClientCapabilities | undefined
  /** W3C Trace Context of the request. */
  readonly traceparent: string | undefined
  /** There if whoever called wants to hear of it. Made anew each time. */
  progress(): Progress | undefined
  /** What was asked of whoever sits at the client, and what they said: there when a call comes again with it. */
  readonly answered: { readonly state: unknown; readonly responses: Readonly<Record<string, unknown>> } | undefined
}

export type ToolResult = CallToolResult | InputRequiredResult
