/**
 * Status reports about tool calls: one at the start and one at the end of each call, and progress in between. The metadata
 * are for programs: `toolCall` with `id`, `name`, `arguments`, `outcome`, each with a size limit.
 */
import { status, type Json, type Report, type Struct } from '@parley/a2a'
import { progressMarkerKey } from '../openai/chat-history.ts'
import { truncateText } from './result-text.ts'
import type { OpenCall } from './state.ts'

/** `unknown`: it was running when the process died. */
export type ToolCallOutcome = 'started' | 'progress' | 'succeeded' | 'failed' | 'unknown'

/** Limit of arguments and results in metadata, in characters. */
const maxChars = 2_000

export interface ToolCallEvent {
  readonly outcome: ToolCallOutcome
  readonly text: string
  /** The output of the tool, or its progress. */
  readonly more?: Struct
}

export function toolCallStatus(
  { id, name, input, child }: OpenCall,
  { outcome, text, more = {} }: ToolCallEvent,
): Report {
  const about = outcome === 'started' ? { arguments: boundedArguments(input) } : {}
  return status(
    {
      parts: [{ text }],
      // Marks text that the model did not write, so that the history does not attribute it to the model.
      metadata: { [progressMarkerKey]: 'tool-call' },
      ...(child?.taskId !== undefined ? { referenceTaskIds: [child.taskId] } : {}),
    },
    { toolCall: { id, name, outcome, ...about, ...more } },
  )
}

export const boundedResult = (text: string): Struct => ({ result: truncateText(text, maxChars) })

/** As data if they are short, otherwise as truncated text. */
function boundedArguments(input: string): Json {
  if (input.length > maxChars) return truncateText(input, maxChars)
  try {
    return JSON.parse(input) as Json
  } catch {
    return input
  }
}
