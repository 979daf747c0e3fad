/** The options that all adapters have. */
import type { Fetch } from '../client/contract.ts'

/** Tokens of one model call, as the framework counts them. */
export interface ModelUsage {
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  /** Input tokens that the provider had cached. */
  readonly cachedTokens?: number | undefined
  /** Output tokens that are not part of the answer. */
  readonly reasoningTokens?: number | undefined
}

/** How many earlier messages of a conversation the framework gets, if it keeps none itself. */
export interface HistoryLimits {
  /** Default 20. */
  readonly tasks?: number
  /** Default 100,000. */
  readonly characters?: number
}

/** Options that every adapter has. */
export interface AdapterOptions {
  /**
   * What happens to a turn that a restart interrupts. `rerun` (default) continues from the last durable step of the framework, and
   * repeats what came after it: a tool call may run twice. `fail` ends the task as FAILED.
   */
  readonly resume?: 'rerun' | 'fail'
  /** Reports the reasoning of the model as status updates with `metadata.thought`. Default false. */
  readonly reasoning?: boolean
  /** What clients see of tool calls: names with arguments and results (`all`, the default), only `names`, or `none`. */
  readonly toolCalls?: 'all' | 'names' | 'none'
  /** Applies to frameworks that keep no conversation themselves. */
  readonly history?: HistoryLimits
  /** The cost of a model call, for its span. Default: unknown. */
  readonly cost?: (model: string, usage: ModelUsage) => number | undefined
  /**
   * Fetches files that messages refer to by URL. Default: `guardedFetch` of `@parley/a2a/node`, which reaches no internal address.
   * `false`: the model gets the URL as text.
   */
  readonly fetch?: Fetch | false
}
