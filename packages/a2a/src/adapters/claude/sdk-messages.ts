/** The Claude Agent SDK as far as the adapter uses it: by structure, so that nothing is imported. */
import type { Struct } from '../../model/task.ts'

/**
 * An agent of the Claude Agent SDK: its function `query`, and the options of every call.
 */
export interface ClaudeAgent<Options = unknown> {
  /** `query` of `@anthropic-ai/claude-agent-sdk`. `never`: the types of prompts belong to the package. */
  readonly query: (params: { readonly prompt: never; readonly options?: Options }) => ClaudeQuery
  /**
   * The options of `query`. The adapter sets the session, the prompt and partial messages itself. Unless you set them,
   * `settingSources` is empty, `strictMcpConfig` and `verbatimPrompts` are true, and `permissionMode` is `default`.
   */
  readonly options?: Options
}

/** What `query()` returns, as far as the adapter uses it. */
export interface ClaudeQuery extends AsyncIterable<unknown> {
  interrupt(): Promise<unknown>
}

/** The options that the adapter reads or sets. */
export interface ClaudeOptions {
  readonly hooks?: Readonly<Record<string, readonly HookMatcher[]>>
  readonly canUseTool?: unknown
  readonly sessionStore?: SessionStore
  readonly persistSession?: boolean
  readonly enableFileCheckpointing?: boolean
  readonly outputFormat?: unknown
  readonly [name: string]: unknown
}

export interface HookMatcher {
  readonly matcher?: string
  readonly hooks: readonly ToolHook[]
}

/** A hook that runs before a tool. */
export type ToolHook = (input: ToolHookInput, toolUseId: string | undefined, options: unknown) => Promise<HookOutput>

export interface ToolHookInput {
  readonly tool_name: string
  readonly tool_input: unknown
  readonly tool_use_id: string
  /** Set in a sub-agent. */
  readonly agent_id?: string
}

export interface HookOutput {
  readonly hookSpecificOutput?: {
    readonly hookEventName: 'PreToolUse'
    readonly permissionDecision?: 'allow' | 'deny' | 'ask' | 'defer'
    readonly permissionDecisionReason?: string
    readonly updatedInput?: Struct
  }
}

/** Where the SDK mirrors the transcript of a session. */
export interface SessionStore {
  append(key: SessionKey, entries: readonly TranscriptEntry[]): Promise<void>
  load(key: SessionKey): Promise<readonly TranscriptEntry[] | null>
  listSubkeys?(key: SessionKey): Promise<readonly string[]>
}

export interface SessionKey {
  readonly projectKey: string
  readonly sessionId: string
  /** Set for the transcript of a sub-agent. */
  readonly subpath?: string
}

/** A line of a transcript. Opaque, apart from its id. */
export interface TranscriptEntry {
  readonly type: string
  readonly uuid?: string
  readonly [name: string]: unknown
}

export interface ContentBlock {
  readonly type: string
  readonly id?: string
  readonly name?: string
  readonly text?: string
  readonly input?: unknown
  readonly tool_use_id?: string
  readonly is_error?: boolean
  readonly content?: unknown
}

interface MessageUsage {
  readonly input_tokens?: number | null
  readonly output_tokens?: number | null
  readonly cache_read_input_tokens?: number | null
  readonly cache_creation_input_tokens?: number | null
}

/** An event of the Messages API, within a message of the SDK. */
export type ModelStreamEvent =
  | {
      readonly type: 'message_start'
      readonly message: { readonly id: string; readonly model: string; readonly usage?: MessageUsage }
    }
  | { readonly type: 'content_block_start'; readonly index: number; readonly content_block: ContentBlock }
  | {
      readonly type: 'content_block_delta'
      readonly index: number
      readonly delta: { readonly type: string; readonly text?: string; readonly thinking?: string }
    }
  | {
      readonly type: 'message_delta'
      readonly delta: { readonly stop_reason?: string | null }
      readonly usage?: MessageUsage
    }
  | { readonly type: 'message_stop' | 'content_block_stop' | 'ping' }

/** A tool call that waits for a decision. */
export interface DeferredCall {
  readonly id: string
  readonly name: string
  readonly input: Struct
}

/** The last message of a run. */
export interface RunResult {
  readonly type: 'result'
  readonly subtype: string
  readonly is_error: boolean
  readonly result?: string
  readonly errors?: readonly string[]
  readonly structured_output?: unknown
  readonly terminal_reason?: string
  readonly deferred_tool_use?: DeferredCall
  readonly total_cost_usd?: number
}

export type ClaudeMessage =
  | { readonly type: 'stream_event'; readonly event: ModelStreamEvent; readonly parent_tool_use_id: string | null }
  | {
      readonly type: 'assistant' | 'user'
      readonly message: {
        readonly id?: string
        readonly model?: string
        readonly content: string | readonly ContentBlock[]
      }
      readonly parent_tool_use_id: string | null
      readonly uuid?: string
    }
  | {
      readonly type: 'tool_progress'
      readonly tool_use_id: string
      readonly tool_name: string
      readonly elapsed_time_seconds: number
    }
  | RunResult
  /** Messages that the adapter does not report. */
  | { readonly type: 'system' | 'attachment' | 'command_lifecycle' }
