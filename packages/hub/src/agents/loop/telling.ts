/**
 * What whoever watches a task is told of its tools: a status for the beginning and the end of each call, and now and then
 * for how far it is. The metadata are for programs: `toolCall` with `id`, `name`, `arguments`, `outcome`, each within a bound.
 */
import { status } from '@parley/a2a'
import type { Json, Report, Struct } from '@parley/a2a'
import { asideKey } from '../openai/conversation.ts'
import { shortened } from './result-text.ts'
import type { OpenCall } from './state.ts'

/** `unknown`: it was at work when the process died. */
export type CallOutcome = 'started' | 'progress' | 'succeeded' | 'failed' | 'unknown'

/** Of arguments and results in metadata, in characters. */
const limit = 2_000

export interface CallNews {
  readonly outcome: CallOutcome
  readonly text: string
  /** What the tool said, or how far it is. */
  readonly more?: Struct
}

export function callStatus({ id, name, input, child }: OpenCall, { outcome, text, more = {} }: CallNews): Report {
  const about = outcome === 'started' ? { arguments: boundedArguments(input) } : {}
  return status(
    {
      parts: [{ text }],
      // The model did not say this: it is not told of it as if it had.
      metadata: { [asideKey]: 'tool-call' },
      ...(child?.taskId !== undefined ? { referenceTaskIds: [child.taskId] } : {}),
    },
    { toolCall: { id, name, outcome, ...about, ...more } },
  )
}

export const boundedResult = (text: string): Struct => ({ result: shortened(text, limit) })

/** As data where they are short enough, else as the beginning of their text. */
function boundedArguments(input: string): Json {
  if (input.length > limit) return shortened(input, limit)
  try {
    return JSON.parse(input) as Json
  } catch {
    return input
  }
}
