/** What the spans of a task add up to: how many, what failed, what was used, what it cost. */
import type { Span, Struct } from '@parley/a2a'

/** Numbers that a trace is the sum of. */
export interface Sums {
  readonly turns: number
  readonly spans: number
  readonly errors: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** Nothing where nothing has a price. */
  readonly cost?: number
}

/** So many names of models, and of tools, are kept. */
const mostNames = 20

export class Tally {
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
    this.inputTokens += numberIn(attributes, 'gen_ai.usage.input_tokens')
    this.outputTokens += numberIn(attributes, 'gen_ai.usage.output_tokens')
    if ('gen_ai.usage.cost' in attributes) {
      this.cost = exact((this.cost ?? 0) + numberIn(attributes, 'gen_ai.usage.cost'))
    }
    if (kind === 'model') keep(this.models, attributes['gen_ai.response.model'] ?? attributes['gen_ai.request.model'])
    if (kind === 'tool') keep(this.tools, attributes['gen_ai.tool.name'])
  }

  get sums(): Sums {
    const { turns, spans, errors, inputTokens, outputTokens, cost } = this
    return { turns, spans, errors, inputTokens, outputTokens, ...(cost !== undefined ? { cost } : {}) }
  }

  /** As a span tells them. */
  attributes(): Struct {
    const { inputTokens, outputTokens, cost } = this
    return {
      ...(inputTokens > 0 ? { 'gen_ai.usage.input_tokens': inputTokens } : {}),
      ...(outputTokens > 0 ? { 'gen_ai.usage.output_tokens': outputTokens } : {}),
      ...(cost !== undefined ? { 'gen_ai.usage.cost': cost } : {}),
    }
  }
}

export const nothing: Sums = { turns: 0, spans: 0, errors: 0, inputTokens: 0, outputTokens: 0 }

/** `whole` with `now` in the place of `before`. */
export function exchanged(whole: Sums, before: Sums, now: Sums): Sums {
  const changed = (name: keyof Omit<Sums, 'cost'>): number => whole[name] - before[name] + now[name]
  const hasCost = whole.cost !== undefined || now.cost !== undefined
  const cost = exact((whole.cost ?? 0) - (before.cost ?? 0) + (now.cost ?? 0))
  return {
    turns: changed('turns'),
    spans: changed('spans'),
    errors: changed('errors'),
    inputTokens: changed('inputTokens'),
    outputTokens: changed('outputTokens'),
    ...(hasCost ? { cost } : {}),
  }
}

/** Sums of prices, without what floating point adds to them. */
export function exact(cost: number): number {
  return Number(cost.toPrecision(12))
}

function keep(names: Set<string>, name: unknown): void {
  if (typeof name === 'string' && name !== '' && names.size < mostNames) names.add(name)
}

function numberIn(attributes: Struct, name: string): number {
  const value = attributes[name]
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0
}
