/** The usage of a turn's model calls as metadata of its last status, for billing and traces. */
import { omitUndefined } from '@parley/a2a'
import type { Struct } from '@parley/a2a'
import type { ModelCall, TokenUsage } from '../chat-model.ts'

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
