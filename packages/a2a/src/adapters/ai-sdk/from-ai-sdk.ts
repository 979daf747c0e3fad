/**
 * Agents of the Vercel AI SDK. The SDK keeps nothing itself, and its messages are JSON: a checkpoint holds them after each step that
 * ran tools and while an approval waits, and the store of the turn passes the conversation on to the next task.
 */
import type { Agent, Turn } from '../../agents/agent.ts'
import { abortable } from '../../model/signals.ts'
import type { AdapterOptions } from '../adapter-options.ts'
import { toJson } from '../bounded-json.ts'
import { type FrameworkRun, type RunStart, frameworkAgent } from '../framework-agent.ts'
import type { RunRecorder } from '../run-recorder.ts'
import {
  answerMessage,
  callsToApprove,
  jsonMessages,
  openCalls,
  rememberMessages,
  startMessages,
  type TurnMessages,
} from './model-messages.ts'
import { usageOf, type AiSdkAgent, type StreamOptions, type StreamPart } from './stream-parts.ts'

/** Options of `fromAiSdk`. */
export interface FromAiSdkOptions extends AdapterOptions {
  /** The agent has an output schema: reports the parsed value as data, and not its JSON as text. Default false. */
  readonly structuredOutput?: boolean
  /** The call options of the agent, if it has a `callOptionsSchema`. */
  readonly callOptions?: (turn: Turn) => unknown
  /** Whether the next task of a conversation gets the messages of this one, with its tool calls. Default true. */
  readonly memory?: boolean
}

/**
 * Makes an agent of the AI SDK an A2A agent.
 *
 * A tool approval becomes INPUT_REQUIRED with a form, and survives a restart. A turn that a restart interrupts continues after the
 * last step whose tools had all run. A tool without `execute` is run by the client.
 *
 * @example
 * ```ts
 * import { fromAiSdk } from '@parley/a2a/adapters/ai-sdk'
 * import { serve } from '@parley/a2a/node'
 * import { ToolLoopAgent } from 'ai'
 *
 * const agent = new ToolLoopAgent({ model: 'openai/gpt-5', tools: { search } })
 * await serve({ name: 'Researcher', agent: fromAiSdk(agent) })
 * ```
 */
export function fromAiSdk(agent: AiSdkAgent, options: FromAiSdkOptions = {}): Agent {
  return frameworkAgent<StreamPart>(
    { name: 'ai-sdk', start: (start, out) => startRun(agent, options, start, out) },
    options,
  )
}

async function startRun(
  agent: AiSdkAgent,
  options: FromAiSdkOptions,
  start: RunStart,
  out: RunRecorder,
): Promise<FrameworkRun<StreamPart>> {
  const { turn } = start
  const { messages: prompt, before } = await promptOf(start, options)
  /** Each resolves when everything that its step reported is written. */
  const written: PromiseWithResolvers<void>[] = []
  const writtenStep = (index: number): PromiseWithResolvers<void> => (written[index] ??= Promise.withResolvers())
  let steps = 0
  const callOptions = options.callOptions?.(turn)
  const streamOptions: StreamOptions = {
    messages: prompt,
    abortSignal: turn.signal,
    // The SDK waits for this before it calls the model: what the tools of the last step did is durable by then.
    async onStepStart({ stepNumber, messages }) {
      if (messages.length <= prompt.length) return
      if (stepNumber > 0) await abortable(turn.signal, writtenStep(stepNumber - 1).promise)
      await out.saveStep({ messages: jsonMessages(messages), before } satisfies TurnMessages)
    },
    ...(callOptions !== undefined ? { options: callOptions } : {}),
  }
  const result = await agent.stream(streamOptions as never)
  const events = (result.stream ?? result.fullStream) as AsyncIterable<StreamPart> | undefined
  if (events === undefined) throw new TypeError('agent.stream() of the AI SDK returned no stream')
  return { events, onEvent, onEnd }

  function onEvent(part: StreamPart): void {
    switch (part.type) {
      case 'text-delta':
        // Ids are the model's own, and may repeat in later steps.
        if (options.structuredOutput !== true) out.text(part.text, `${steps}:${part.id}`)
        return
      case 'finish-step': {
        const { usage, finishReason, response } = part
        out.modelEnded({ model: response.modelId, usage: usageOf(usage), finishReason })
        writtenStep(steps).resolve()
        steps += 1
        return
      }
      case 'abort':
        turn.signal.throwIfAborted()
        throw new Error('the run of the AI SDK was aborted')
      case 'error':
        throw new Error('the run of the AI SDK failed', { cause: part.error })
      default:
        reportPart(part, out)
    }
  }

  async function onEnd(): Promise<void> {
    const messages = [...prompt, ...jsonMessages(await result.responseMessages)]
    const approved = callsToApprove(messages)
    for (const call of openCalls(messages)) {
      const { toolCallId: id = '', toolName, input } = call
      if (!approved.has(id)) out.ask({ kind: 'client-tool', id, tool: String(toolName), arguments: toJson(input) })
    }
    if (out.questions.length > 0) {
      out.pause({ messages, before } satisfies TurnMessages)
      return
    }
    if (options.structuredOutput === true) out.data(await result.output)
    if (options.memory !== false) await rememberMessages(turn, { messages, before })
  }
}

function reportPart(part: StreamPart, out: RunRecorder): void {
  switch (part.type) {
    case 'start-step':
      out.modelStarted()
      return
    case 'reasoning-delta':
      out.reasoning(part.text)
      return
    case 'tool-call':
      out.toolStarted({ id: part.toolCallId, name: part.toolName }, part.input)
      return
    case 'tool-result': {
      const call = { id: part.toolCallId, name: part.toolName }
      if (part.preliminary === true) out.toolProgress(call, part.output)
      else out.toolEnded({ ...call, outcome: 'succeeded', result: part.output })
      return
    }
    case 'tool-error':
      out.toolEnded({ id: part.toolCallId, name: part.toolName, outcome: 'failed' })
      return
    case 'tool-output-denied':
      out.toolEnded({ id: part.toolCallId, name: part.toolName, outcome: 'failed', result: 'denied' })
      return
    case 'tool-approval-request': {
      const { approvalId: id, toolCall, reason, isAutomatic } = part
      if (isAutomatic === true) return
      const about = reason === undefined ? {} : { reason }
      const { toolCallId, toolName: tool, input } = toolCall
      out.ask({ kind: 'approval', id, toolCallId, tool, arguments: toJson(input), ...about })
      return
    }
    case 'file':
      out.part({ raw: part.file.base64, mediaType: part.file.mediaType })
      return
    default:
  }
}

async function promptOf({ turn, step, paused }: RunStart, options: FromAiSdkOptions): Promise<TurnMessages> {
  if (step !== undefined) return savedMessages(step)
  if (paused === undefined) return startMessages(turn, options)
  const { messages, before } = savedMessages(paused.state)
  return { messages: [...messages, answerMessage(paused.answers, messages)], before }
}

/** Runs that an older version saved have no `before`. */
function savedMessages(state: unknown): TurnMessages {
  const { messages, before = 0 } = state as Pick<TurnMessages, 'messages'> & Partial<TurnMessages>
  return { messages, before }
}
