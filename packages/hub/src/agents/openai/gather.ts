/**
 * What a model says in pieces, added up: text, refusals, tool calls in fragments, the reason of the end, the bill. Nothing
 * of an answer is taken on trust: endpoints that call themselves compatible differ in every detail.
 */
import { newId } from '@parley/a2a'
import type { ChatFinish, ChatToolCall, TokenUsage } from '../chat-model.ts'
import { tooLong } from './answer-body.ts'
import { errorWithin, garbled } from './failure.ts'

export interface Gathered {
  readonly text: string
  readonly refusal: string
  readonly toolCalls: readonly ChatToolCall[]
  /** As the endpoint says it; empty while it has not. */
  readonly finishReason: string
  readonly model: string
  readonly usage: TokenUsage | undefined
}

interface OpenCall {
  id: string
  name: string
  readonly pieces: string[]
}

type Fields = Readonly<Record<string, unknown>>

export class Gathering {
  readonly #limit: number
  readonly #text: string[] = []
  readonly #refusal: string[] = []
  readonly #calls: OpenCall[] = []
  readonly #byIndex = new Map<number, OpenCall>()
  #length = 0
  #finish = ''
  #model = ''
  #usage: TokenUsage | undefined

  /** `limit` is what all its words together may come to. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** A chunk of a stream, or a whole answer. Gives back its text. */
  add(chunk: unknown): string {
    if (!isFields(chunk)) throw garbled('a chunk that is no object')
    if (chunk['error'] !== undefined && chunk['error'] !== null) throw errorWithin(chunk['error'])
    if (typeof chunk['model'] === 'string' && chunk['model'] !== '') this.#model = chunk['model']
    if (isFields(chunk['usage'])) this.#usage = usageIn(chunk['usage'])
    const choices: unknown = chunk['choices']
    if (!Array.isArray(choices)) {
      // Some send the bill, or a word on their filter, beside all choices.
      if (chunk['usage'] === undefined && chunk['object'] === undefined) throw garbled('a chunk without choices')
      return ''
    }
    // Others than the first were not asked for.
    const [choice] = choices as unknown[]
    if (!isFields(choice)) return ''
    if (typeof choice['finish_reason'] === 'string') this.#finish = choice['finish_reason']
    const said = choice['delta'] ?? choice['message']
    return isFields(said) ? this.#hear(said) : ''
  }

  get hasEnded(): boolean {
    return this.#finish !== ''
  }

  result(): Gathered {
    return {
      text: this.#text.join(''),
      refusal: this.#refusal.join(''),
      toolCalls: this.#calls.map(({ id, name, pieces }) => ({
        id: id === '' ? `call_${newId()}` : id,
        type: 'function',
        function: { name, arguments: pieces.join('') },
      })),
      finishReason: this.#finish,
      model: this.#model,
      usage: this.#usage,
    }
  }

  #hear(said: Fields): string {
    const text = textIn(said['content'])
    if (text !== '') this.#keep(this.#text, text)
    if (typeof said['refusal'] === 'string') this.#keep(this.#refusal, said['refusal'])
    const calls: unknown = said['tool_calls']
    if (Array.isArray(calls)) for (const call of calls as unknown[]) if (isFields(call)) this.#hearCall(call)
    return text
  }

  #hearCall(given: Fields): void {
    const { index, id, function: called } = given
    const call = this.#callFor(typeof index === 'number' ? index : undefined, typeof id === 'string' ? id : '')
    if (!isFields(called)) return
    // A name comes whole and at once; those who repeat it in every fragment mean the same.
    if (typeof called['name'] === 'string' && call.name === '') call.name = called['name']
    const { arguments: input } = called
    if (typeof input === 'string') this.#keep(call.pieces, input)
    else if (isFields(input)) this.#keep(call.pieces, JSON.stringify(input))
  }

  /** By index, as the API has it; some leave it out, or say 0 of every call and tell them apart by id. */
  #callFor(index: number | undefined, id: string): OpenCall {
    const known = index === undefined ? this.#withId(id) : this.#byIndex.get(index)
    if (known !== undefined && (id === '' || known.id === '' || known.id === id)) {
      if (known.id === '') known.id = id
      return known
    }
    const call: OpenCall = { id, name: '', pieces: [] }
    this.#calls.push(call)
    if (index !== undefined) this.#byIndex.set(index, call)
    return call
  }

  #withId(id: string): OpenCall | undefined {
    return id === '' ? this.#calls.at(-1) : this.#calls.find((call) => call.id === id)
  }

  #keep(where: string[], piece: string): void {
    this.#length += piece.length
    if (this.#length > this.#limit) throw tooLong(this.#limit)
    where.push(piece)
  }
}

/** In our words. A model that calls tools has not stopped, whatever it says. */
export function finishOf({ finishReason, toolCalls }: Pick<Gathered, 'finishReason' | 'toolCalls'>): ChatFinish {
  if (/filter|safety/i.test(finishReason)) return 'content_filter'
  if (/length|max_tokens/i.test(finishReason)) return 'length'
  return toolCalls.length > 0 ? 'tool_calls' : 'stop'
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return (content as unknown[])
    .map((part) => (isFields(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('')
}

function usageIn(usage: Fields): TokenUsage {
  const number = (from: unknown, ...names: readonly string[]): number | undefined => {
    const value = isFields(from)
      ? names.map((name) => from[name]).find((given) => typeof given === 'number')
      : undefined
    return value !== undefined && Number.isFinite(value) ? value : undefined
  }
  const inputTokens = number(usage, 'prompt_tokens', 'input_tokens') ?? 0
  const outputTokens = number(usage, 'completion_tokens', 'output_tokens') ?? 0
  const cachedTokens = number(usage['prompt_tokens_details'], 'cached_tokens')
  const reasoningTokens = number(usage['completion_tokens_details'], 'reasoning_tokens')
  return {
    inputTokens,
    outputTokens,
    totalTokens: number(usage, 'total_tokens') ?? inputTokens + outputTokens,
    ...(cachedTokens !== undefined ? { cachedTokens } : {}),
    ...(reasoningTokens !== undefined ? { reasoningTokens } : {}),
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
