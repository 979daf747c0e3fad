/** The cost of a model call by the configured prices: per million tokens, by model name. */
import { matchesPattern } from '../agents/name-pattern.ts'
import type { TokenUsage } from '../agents/chat-model.ts'
import { roundCost } from './traces/span-totals.ts'

export interface ModelPrice {
  /** Per million tokens. */
  readonly input: number
  readonly output: number
  /** Price of cached input. Default: that of `input`. */
  readonly cachedInput?: number | undefined
}

export type ModelPrices = Readonly<Record<string, ModelPrice>>

const million = 1_000_000

/** `undefined` if no price is known. `*` in a name matches any characters; an exact name wins over a pattern. */
export function modelCost(model: string, usage: TokenUsage | undefined, prices: ModelPrices): number | undefined {
  const price = usage === undefined ? undefined : priceOf(model, prices)
  if (usage === undefined || price === undefined) return undefined
  const { inputTokens, outputTokens, cachedTokens = 0 } = usage
  const { input, output, cachedInput = input } = price
  const cached = Math.min(cachedTokens, inputTokens)
  return roundCost(((inputTokens - cached) * input + cached * cachedInput + outputTokens * output) / million)
}

function priceOf(model: string, prices: ModelPrices): ModelPrice | undefined {
  if (Object.hasOwn(prices, model)) return prices[model]
  const fitting = Object.keys(prices).filter((pattern) => pattern.includes('*') && matchesPattern(pattern, model))
  // The most specific pattern wins.
  const [closest] = fitting.toSorted((a, b) => b.length - a.length)
  return closest === undefined ? undefined : prices[closest]
}
