/** The final report of a task after the last answer, or the failure, of its model. Shared by all agents that use a model. */
import { A2AError, fail, reject, type Report, type Struct, type Turn } from '@parley/a2a'
import { omitUndefined, type StateReport } from '@parley/a2a/internal'
import type { ChatAnswer, ModelCall, TokenUsage } from '../chat-model.ts'

/** `said`: whether the caller has received any part of the answer. */
export function finalReport({ finish, refusal }: ChatAnswer, said: boolean, metadata: Struct): Report {
  const ends = (ending: StateReport): Report => ({ ...ending, metadata })
  if (refusal !== undefined) return ends(reject(refusal))
  if (finish === 'content_filter')
    return ends(fail(`The provider's content filter stopped the ${said ? 'rest of the ' : ''}answer`))
  if (finish === 'length') {
    const why = "The answer reached the model's limit"
    // A partial answer may be useful, but must be marked as incomplete.
    return said
      ? { state: 'TASK_STATE_COMPLETED', message: `${why} and is not complete`, metadata }
      : ends(fail(`${why} before it began`))
  }
  return said ? { state: 'TASK_STATE_COMPLETED', metadata } : ends(fail('The model answered with nothing'))
}

/**
 * Reports a failure of the model as the end of the task. Rethrows other errors. Also rethrows an unreadable answer if no
 * earlier answer was billed: if there is no task yet, the call fails with it (-32006).
 */
export function failureReport(reason: unknown, turn: Turn, bill?: Struct): Report {
  turn.signal.throwIfAborted()
  if (!(reason instanceof A2AError) || reason.code === 'INTERNAL') throw reason
  turn.log.error('the model failed', { taskId: turn.task.id, cause: reason.cause ?? reason })
  if (reason.code === 'INVALID_AGENT_RESPONSE' && bill === undefined) throw reason
  const ending =
    reason.details.reason === 'CONTENT_FILTER'
      ? reject(reason.message)
      : fail(reason.message, { cause: reason.cause ?? reason })
  // Tells callers with alternatives whether another agent might succeed.
  return { ...ending, metadata: { ...bill, reason: reason.details.reason ?? reason.code } }
}

/** `{ usage, modelCalls }`; the sums are omitted if no endpoint reported usage. */
export function usageMetadata(calls: readonly ModelCall[]): Struct {
  const billed = calls.flatMap(({ usage }) => (usage === undefined ? [] : [usage]))
  return {
    ...(billed.length > 0 ? { usage: { ...billed.reduce(add) } } : {}),
    modelCalls: calls.map(({ usage, ...call }) => ({ ...call, ...usage })),
  }
}

function add(a: TokenUsage, b: TokenUsage): TokenUsage {
  const cachedTokens = sum(a.cachedTokens, b.cachedTokens)
  const reasoningTokens = sum(a.reasoningTokens, b.reasoningTokens)
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    totalTokens: a.totalTokens + b.totalTokens,
    ...omitUndefined({ cachedTokens, reasoningTokens }),
  }
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0)
}
