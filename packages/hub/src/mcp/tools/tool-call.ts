/** What a tool knows of its call, whatever the transport and version of MCP. */
import type { CallToolResult, ClientCapabilities, InputRequiredResult } from '@modelcontextprotocol/server'
import type { AgentLog } from '@parley/a2a'
import type { AgentDirectory } from '../directory/agent-directory.ts'
import type { ToolProgress } from './tool-progress.ts'

export interface McpServerSettings {
  /** `skills`: adds a tool for each skill of each agent. */
  readonly tools: 'agents' | 'skills'
  /** Default time that a tool waits for an agent. */
  readonly waitMs: number
}

export interface McpToolCall {
  readonly directory: AgentDirectory
  readonly settings: McpServerSettings
  /** Aborted when the client cancels the call or disconnects. */
  readonly signal: AbortSignal
  /** Whether the client canceled it: a lost connection cancels nothing (B-103). */
  isStopped(): boolean
  readonly log: AgentLog
  /** What the client can be asked for. Undefined for a client without a session. */
  readonly capabilities: ClientCapabilities | undefined
  /** W3C Trace Context of the request. */
  readonly traceparent: string | undefined
  /** Creates a progress reporter if the client requested progress. */
  progress(): ToolProgress | undefined
  /** The question to the user and the answer, if the call is repeated with it. */
  readonly elicitationAnswer:
    | { readonly state: unknown; readonly responses: Readonly<Record<string, unknown>> }
    | undefined
}

export type McpToolResult = CallToolResult | InputRequiredResult
