/** The messages of a run of Claude Code as reports: text, reasoning, tool calls and model calls. */
import type { ModelUsage, AdapterOptions } from '../adapter-options.ts'
import type { RunRecorder } from '../run-recorder.ts'
import type { ClaudeMessage, ClaudeOptions, ContentBlock, ModelStreamEvent } from './sdk-messages.ts'

/** The tool by which the model returns structured output. The output itself is reported, at the end. */
const outputTool = 'StructuredOutput'
/** Messages that the program writes in the name of a model, such as errors of the service. */
const syntheticModel = '<synthetic>'

export interface MessageReporter {
  onMessage(message: ClaudeMessage): void
  /** The id of the last tool result of the main agent, if no call is open and nothing was said since. */
  readonly lastToolResult: string | undefined
  /** The run has ended. `costUsd`: of all its model calls. */
  end(costUsd: number): void
}

interface OpenModelCall {
  readonly model: string
  usage: ModelUsage
  finishReason?: string | undefined
  /** Other calls of tools than that for structured output. */
  hasTools: boolean
}

/** `deferred`: the tool call that the run continues with. */
export function messageReporter(
  out: RunRecorder,
  { outputFormat }: Pick<ClaudeOptions, 'outputFormat'>,
  { cost }: AdapterOptions,
  deferred: { readonly id: string; readonly name: string } | undefined,
): MessageReporter {
  /** By the id of the call. */
  const openTools = new Map<string, string>(deferred === undefined ? [] : [[deferred.id, deferred.name]])
  const streamed = new Set<string>()
  let messageId = ''
  let modelCall: OpenModelCall | undefined
  let lastToolResult: string | undefined

  function say(text: string, block: string): void {
    if (outputFormat !== undefined) return
    lastToolResult = undefined
    out.text(text, block)
  }

  function onStreamEvent(event: ModelStreamEvent): void {
    switch (event.type) {
      case 'message_start': {
        const { id, model, usage = {} } = event.message
        messageId = id
        streamed.add(id)
        out.modelStarted()
        const cached = usage.cache_read_input_tokens ?? 0
        // The service counts cached tokens apart.
        const inputTokens = (usage.input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0) + cached
        modelCall = { model, usage: { inputTokens, cachedTokens: cached }, hasTools: false }
        return
      }
      case 'content_block_start': {
        const { type, name } = event.content_block
        if (type === 'tool_use' && name !== outputTool && modelCall !== undefined) modelCall.hasTools = true
        return
      }
      case 'content_block_delta': {
        const { type, text = '', thinking = '' } = event.delta
        if (type === 'text_delta') say(text, `${messageId}/${event.index}`)
        if (type === 'thinking_delta') out.reasoning(thinking)
        return
      }
      case 'message_delta':
        if (modelCall === undefined) return
        modelCall.usage = { ...modelCall.usage, outputTokens: event.usage?.output_tokens ?? 0 }
        modelCall.finishReason = event.delta.stop_reason ?? undefined
        return
      case 'message_stop':
        // The last call waits for the result, which has the cost of all.
        if (modelCall?.hasTools === true) endModelCall()
        return
      default:
    }
  }

  function endModelCall(costUsd?: number): void {
    if (modelCall === undefined) return
    const { model, usage, finishReason } = modelCall
    out.modelEnded({ model, usage, finishReason, cost: cost === undefined ? costUsd : undefined })
    modelCall = undefined
  }

  function onBlock({ type, id = '', name = '', input, ...block }: ContentBlock): void {
    if (type === 'tool_use' && name !== outputTool) {
      openTools.set(id, name)
      out.toolStarted({ id, name }, input)
    }
    if (type === 'tool_result' && block.tool_use_id !== undefined) {
      const call = block.tool_use_id
      const tool = openTools.get(call)
      if (tool === undefined) return
      openTools.delete(call)
      const outcome = block.is_error === true ? 'failed' : 'succeeded'
      out.toolEnded({ id: call, name: tool, outcome, result: resultOf(block.content) })
    }
  }

  return {
    onMessage(message) {
      switch (message.type) {
        case 'stream_event':
          if (message.parent_tool_use_id === null) onStreamEvent(message.event)
          return
        case 'assistant':
        case 'user': {
          const { message: inner, parent_tool_use_id: parent, uuid } = message
          const content = typeof inner.content === 'string' ? [] : inner.content
          for (const block of content) onBlock(block)
          const isMain = parent === null
          if (message.type === 'user') {
            const hasResult = content.some(({ type }) => type === 'tool_result')
            if (isMain && hasResult && openTools.size === 0) lastToolResult = uuid
            return
          }
          const isNew = isMain && inner.id !== undefined && !streamed.has(inner.id)
          if (isNew && inner.model !== syntheticModel)
            for (const [index, { type, text = '' }] of content.entries())
              if (type === 'text') say(text, `${inner.id}/${index}`)
          return
        }
        case 'tool_progress': {
          const { tool_use_id: id, tool_name: name, elapsed_time_seconds: seconds } = message
          if (name !== outputTool) out.toolProgress({ id, name }, { seconds })
          return
        }
        default:
      }
    },
    get lastToolResult() {
      return lastToolResult
    },
    end: endModelCall,
  }
}

/** A result is text, or blocks. */
function resultOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content
  const blocks = content as readonly ContentBlock[]
  return blocks.every(({ type }) => type === 'text') ? blocks.map(({ text = '' }) => text).join('\n') : blocks
}
