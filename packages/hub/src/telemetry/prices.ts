/** What a call of a model costs, as the configuration prices it: by a million tokens, and by the model's name. */
import { fitsPattern } from '../agents/name-pattern.ts'
import type { TokenUsage } from '../agents/chat-model.ts'
import { exact } from './tally.ts'

export interface Price {
  /** For a million tokens of each sort. */
  readonly input: number
  readonly output: number
  /** Of the input, what the provider still knew. Default: as `input`. */
  readonly cachedInput?: number | undefined
}

export type Prices = Readonly<Record<string, Price>>

const million = 1_000_000

/** Nothing where no price is known. `*` in a name stands for any letters; a name without it counts more than one with it. */
export function costOf(model: string, usage: TokenUsage | undefined, prices: Prices): number | undefined {
  const price = usage === undefined ? undefined : priceOf(model, prices)
  if (usage === undefined || price === undefined) return undefined
  const { inputTokens, outputTokens, cachedTokens = 0 } = usage
  const { input, output, cachedInput = input } = price
  const cached = Math.min(cachedTokens, inputTokens)
  return exact(((inputTokens - cached) * input + cached * cachedInput + outputTokens * output) / million)
}

function priceOf(model: string, prices: Prices): Price | undefined {
  if (Object.hasOwn(prices, model)) return prices[model]
  const fitting = Object.keys(prices).filter((pattern) => pattern.includes('*') && fitsPattern(pattern, model))
  // Of several, the one that says most.
  const [closest] = fitting.toSorted((a, b) => b.length - a.length)
  return closest === undefined ? undefined : prices[closest]
}
