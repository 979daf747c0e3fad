/**
 * Agents of the Claude Agent SDK, which runs Claude Code as a program beside this process. The program keeps a transcript of its
 * session; the adapter keeps a copy in the task, so that an approval, a conversation and the steps of a turn survive this process.
 */
import type { Agent } from '../../agents/agent.ts'
import type { AdapterOptions } from '../adapter-options.ts'
import { toJson } from '../bounded-json.ts'
import { type FrameworkRun, type RunStart, frameworkAgent } from '../framework-agent.ts'
import type { RunRecorder } from '../run-recorder.ts'
import { openPrompt, promptBlocks, textBlock, type PromptBlock } from './prompt.ts'
import { decisionOf, questionsOf } from './questions.ts'
import { messageReporter } from './report-messages.ts'
import type {
  ClaudeAgent,
  ClaudeMessage,
  ClaudeOptions,
  DeferredCall,
  RunResult,
  TranscriptEntry,
} from './sdk-messages.ts'
import {
  earlierSession,
  forgetOtherSessions,
  openTranscript,
  rememberSession,
  type SessionRef,
} from './session-transcript.ts'
import { approvalOptions, type ApprovalRule, type ToolDecision } from './tool-approvals.ts'

/** Options of `fromClaude`. */
export interface FromClaudeOptions extends AdapterOptions {
  /**
   * The tool calls that need an approval: names, where a final `*` stands for any ending (`mcp__bank__*`), or a function of the
   * name and the arguments. Calls for which Claude Code itself wants a permission need one as well. Default: only those.
   */
  readonly approve?: ApprovalRule
  /** Whether the next task of a conversation continues the session of this one. Default true. */
  readonly memory?: boolean
}

/** The last message of a session whose deferred tool is not connected yet: servers of tools connect while the program starts. */
const notConnected = 'tool_deferred_unavailable'
const connectDelaysMs = [0, 250, 1_000, 4_000]
const continuePrompt = 'Continue from where you left off.'

/**
 * Makes an agent of the Claude Agent SDK an A2A agent.
 *
 * A tool call that needs an approval becomes INPUT_REQUIRED with a form, and survives a restart, also on another replica. So does a
 * question of the model (`AskUserQuestion`). A turn that a restart interrupts continues after its last tool result.
 *
 * @example
 * ```ts
 * import { query } from '@anthropic-ai/claude-agent-sdk'
 * import { fromClaude } from '@parley/a2a/adapters/claude'
 * import { serve } from '@parley/a2a/node'
 *
 * const agent = fromClaude({ query, options: { tools: ['Read', 'Bash'] } }, { approve: ['Bash'] })
 * await serve({ name: 'Reviewer', agent })
 * ```
 */
export function fromClaude<Options extends object>(
  claude: ClaudeAgent<Options>,
  options: FromClaudeOptions = {},
): Agent {
  const given = (claude.options ?? {}) as ClaudeOptions
  if (given.persistSession === false)
    throw new TypeError('fromClaude needs sessions: remove persistSession: false, or an approval could not be resumed')
  if (given.enableFileCheckpointing === true)
    throw new TypeError('fromClaude mirrors sessions, which enableFileCheckpointing of the SDK does not support')
  return frameworkAgent<ClaudeMessage>(
    { name: 'claude', start: (start, out) => startRun(claude as ClaudeAgent, given, options, start, out) },
    options,
  )
}

/** How a run begins: a session that it continues, a prompt, and the caller's decisions. */
interface RunInput {
  readonly from?: SessionRef
  /** The transcript entry after which the run continues. */
  readonly at?: string
  /** A run that continues with a deferred tool call has none. */
  readonly prompt?: readonly PromptBlock[]
  readonly deferred?: DeferredCall
  readonly decisions: ReadonlyMap<string, ToolDecision>
}

/** In checkpoints: a session, and where it continues. */
interface SavedStep extends SessionRef {
  readonly at: string
}

/** In checkpoints: a session, and the tool call that waits. */
interface SavedPause extends SessionRef {
  readonly call: DeferredCall
}

async function startRun(
  { query }: ClaudeAgent,
  given: ClaudeOptions,
  options: FromClaudeOptions,
  start: RunStart,
  out: RunRecorder,
): Promise<FrameworkRun<ClaudeMessage>> {
  const { turn } = start
  const { from, at, prompt: content, deferred, decisions } = await inputOf(start, options)
  const session = crypto.randomUUID()
  await forgetOtherSessions(turn, from === undefined ? [] : [from.session])
  const costBefore = from?.costUsd ?? 0
  const report = messageReporter(out, given, options, deferred)
  const transcript = openTranscript(turn, given.sessionStore, onStored)
  const abort = new AbortController()
  const prompt = openPrompt()
  if (content !== undefined) prompt.send(content)
  let result: RunResult | undefined
  let attempts = 0
  let retry: ReturnType<typeof setTimeout> | undefined

  const messages = query({
    prompt: prompt as never,
    options: {
      // The settings of the operator's own account are no part of the agent, and callers may not expand files or run commands.
      settingSources: [],
      strictMcpConfig: true,
      verbatimPrompts: true,
      permissionMode: 'default',
      ...given,
      ...approvalOptions(given, options.approve ?? [], decisions),
      includePartialMessages: true,
      sessionStore: transcript.store,
      sessionStoreFlush: 'eager',
      sessionId: session,
      ...(from === undefined ? {} : { resume: from.session, forkSession: true }),
      ...(at === undefined ? {} : { resumeSessionAt: at }),
      abortController: abort,
    },
  })
  turn.signal.addEventListener('abort', stop)
  return { events: events(), onEvent, onEnd }

  async function* events(): AsyncGenerator<ClaudeMessage, void, void> {
    try {
      turn.signal.throwIfAborted()
      yield* messages as AsyncIterable<ClaudeMessage>
    } finally {
      turn.signal.removeEventListener('abort', stop)
      clearTimeout(retry)
      prompt.end()
    }
  }

  function stop(): void {
    messages.interrupt().catch(() => {})
    prompt.end()
    abort.abort(turn.signal.reason)
  }

  function onEvent(message: ClaudeMessage): void {
    if (message.type === 'result') onResult(message)
    else report.onMessage(message)
  }

  function onResult(message: RunResult): void {
    const delayMs = connectDelaysMs[attempts]
    if (message.terminal_reason === notConnected && delayMs !== undefined) {
      attempts += 1
      // An empty message makes the program try again, and leaves no trace in the conversation.
      retry = setTimeout(() => prompt.send([textBlock('')]), delayMs)
      return
    }
    result = message
    prompt.end()
  }

  /** A tool result that is durable, and nothing was said since: the turn can continue here. */
  function onStored({ uuid }: TranscriptEntry): void {
    if (uuid === undefined || uuid !== report.lastToolResult || result !== undefined) return
    out.saveStep({ session, at: uuid, costUsd: costBefore } satisfies SavedStep).catch(() => {})
  }

  async function onEnd(): Promise<void> {
    if (result === undefined) throw new Error('Claude Code ended without a result')
    const { deferred_tool_use: call, total_cost_usd: costUsd = costBefore } = result
    if (result.is_error || result.subtype !== 'success')
      throw new Error(`Claude Code failed: ${result.subtype}`, { cause: result.errors ?? result.result })
    if (call !== undefined) {
      if (!transcript.isDurable) throw new Error('The session of Claude is not stored, so it could not be resumed')
      for (const question of questionsOf(call)) out.ask(question)
      out.pause({ session, call, costUsd: costBefore } satisfies SavedPause)
      return
    }
    report.end(costUsd - costBefore)
    if (given.outputFormat !== undefined) out.data(toJson(result.structured_output ?? null))
    const ref = options.memory !== false && transcript.isDurable ? { session, costUsd } : undefined
    await forgetOtherSessions(turn, ref === undefined ? [] : [session])
    await rememberSession(turn, ref)
  }
}

async function inputOf({ turn, step, paused }: RunStart, options: FromClaudeOptions): Promise<RunInput> {
  const decisions = new Map<string, ToolDecision>()
  if (step !== undefined) {
    const { at, ...from } = step as unknown as SavedStep
    return { from, at, prompt: [textBlock(continuePrompt)], decisions }
  }
  if (paused !== undefined) {
    const { call, ...from } = paused.state as unknown as SavedPause
    decisions.set(call.id, decisionOf(call, paused.answers))
    return { from, deferred: call, decisions }
  }
  const from = options.memory === false ? undefined : await earlierSession(turn)
  const prompt = await promptBlocks(turn, options, from !== undefined)
  return { ...(from === undefined ? {} : { from }), prompt, decisions }
}
