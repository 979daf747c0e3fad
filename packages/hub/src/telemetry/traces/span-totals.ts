/** The totals of the spans of a task: count, errors, tokens and cost. */
import type { Struct } from '@parley/a2a'
import type { Span } from '@parley/a2a/internal'

/** Values that add up over a trace. */
export interface SpanTotals {
  readonly turns: number
  readonly spans: number
  /** The number of failed spans. */
  readonly errors: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** In the currency of the configured prices; absent if no price is known. */
  readonly cost?: number
}

/** The tokens and the cost that a span reports. */
export function spanUsage(attributes: Struct) {
  const tokens = (type: string): number | undefined => {
    const amount = amountOf(attributes[`gen_ai.usage.${type}_tokens`])
    return amount === undefined ? undefined : Math.round(amount)
  }
  return {
    inputTokens: tokens('input'),
    outputTokens: tokens('output'),
    cost: amountOf(attributes['gen_ai.usage.cost']),
  }
}

/** More than any real count or cost, and small enough that sums stay finite. */
const maxAmount = 1e12

/** Agents report tokens and costs: a value that is not finite or below 0 is ignored, so that it cannot spoil the sums. */
export function amountOf(value: unknown): number | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) return undefined
  return Math.min(value, maxAmount)
}

/** Maximum number of model names and of tool names. */
const maxNames = 20

export class SpanTotalsCounter {
  turns = 0
  spans = 0
  errors = 0
  inputTokens = 0
  outputTokens = 0
  cost: number | undefined
  readonly models = new Set<string>()
  readonly tools = new Set<string>()

  add({ kind, outcome, attributes = {} }: Span): void {
    this.spans += 1
    if (outcome === 'error') this.errors += 1
    const { inputTokens = 0, outputTokens = 0, cost } = spanUsage(attributes)
    this.inputTokens += inputTokens
    this.outputTokens += outputTokens
    if (cost !== undefined) this.cost = roundCost((this.cost ?? 0) + cost)
    if (kind === 'model')
      addName(this.models, attributes['gen_ai.response.model'] ?? attributes['gen_ai.request.model'])
    if (kind === 'tool') addName(this.tools, attributes['gen_ai.tool.name'])
  }

  get totals(): SpanTotals {
    const { turns, spans, errors, inputTokens, outputTokens, cost } = this
    return { turns, spans, errors, inputTokens, outputTokens, ...(cost !== undefined ? { cost } : {}) }
  }

  /** The totals as span attributes. */
  attributes(): Struct {
    const { inputTokens, outputTokens, cost } = this
    return {
      ...(inputTokens > 0 ? { 'gen_ai.usage.input_tokens': inputTokens } : {}),
      ...(outputTokens > 0 ? { 'gen_ai.usage.output_tokens': outputTokens } : {}),
      ...(cost !== undefined ? { 'gen_ai.usage.cost': cost } : {}),
    }
  }
}

export const emptyTotals: SpanTotals = { turns: 0, spans: 0, errors: 0, inputTokens: 0, outputTokens: 0 }

const totalNames = ['turns', 'spans', 'errors', 'inputTokens', 'outputTokens', 'cost'] as const

export function isSameTotals(one: SpanTotals, other: SpanTotals): boolean {
  return totalNames.every((name) => one[name] === other[name])
}

/** Only the values that are not zero, and the cost if it is known. `emptyTotals` has the others. */
export function nonZeroTotals(totals: SpanTotals): Partial<SpanTotals> {
  const values: { -readonly [Name in keyof SpanTotals]?: number } = {}
  for (const name of totalNames) {
    const value = totals[name]
    if (value !== undefined && (value !== 0 || name === 'cost')) values[name] = value
  }
  return values
}

/** `whole` with `before` replaced by `now`. */
export function replaceTotals(whole: SpanTotals, before: SpanTotals, now: SpanTotals): SpanTotals {
  const changed = (name: keyof Omit<SpanTotals, 'cost'>): number => whole[name] - before[name] + now[name]
  const hasCost = whole.cost !== undefined || now.cost !== undefined
  const cost = roundCost((whole.cost ?? 0) - (before.cost ?? 0) + (now.cost ?? 0))
  return {
    turns: changed('turns'),
    spans: changed('spans'),
    errors: changed('errors'),
    inputTokens: changed('inputTokens'),
    outputTokens: changed('outputTokens'),
    ...(hasCost ? { cost } : {}),
  }
}

/** Rounds away floating-point errors in sums of prices. */
export function roundCost(cost: number): number {
  return Number(cost.toPrecision(12))
}

function addName(names: Set<string>, name: unknown): void {
  if (typeof name === 'string' && name !== '' && names.size < maxNames) names.add(name)
}
