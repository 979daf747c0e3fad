/**
 * Accumulates the chunks of an answer: text, refusals, fragments of tool calls, the finish reason and the usage. Everything
 * is validated: endpoints that call themselves compatible differ in every detail.
 */
import { newId } from '@parley/a2a'
import { isStruct } from '@parley/a2a/internal'
import type { ChatFinish, ChatToolCall, TokenUsage } from '../chat-model.ts'
import { responseTooLarge } from './response-body.ts'
import { errorInBody, unreadableAnswer } from './model-errors.ts'

export interface AccumulatedAnswer {
  readonly text: string
  readonly refusal: string
  readonly toolCalls: readonly ChatToolCall[]
  /** As the endpoint reports it; empty until then. */
  readonly finishReason: string
  readonly model: string
  readonly usage: TokenUsage | undefined
}

interface PartialToolCall {
  id: string
  name: string
  readonly pieces: string[]
}

type JsonFields = Readonly<Record<string, unknown>>

export class AnswerAccumulator {
  readonly #limit: number
  readonly #text: string[] = []
  readonly #refusal: string[] = []
  readonly #calls: PartialToolCall[] = []
  readonly #byIndex = new Map<number, PartialToolCall>()
  #length = 0
  #finish = ''
  #model = ''
  #usage: TokenUsage | undefined

  /** `limit` is the maximum length of all text together. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Adds a chunk of a stream, or a whole answer. Returns its text. */
  add(chunk: unknown): string {
    if (!isStruct(chunk)) throw unreadableAnswer('a chunk that is no object')
    if (chunk['error'] !== undefined && chunk['error'] !== null) throw errorInBody(chunk['error'])
    if (typeof chunk['model'] === 'string' && chunk['model'] !== '') this.#model = chunk['model']
    if (isStruct(chunk['usage'])) this.#usage = usageIn(chunk['usage'])
    const choices: unknown = chunk['choices']
    if (!Array.isArray(choices)) {
      // Some endpoints send the usage, or filter results, in a chunk without choices.
      if (chunk['usage'] === undefined && chunk['object'] === undefined)
        throw unreadableAnswer('a chunk without choices')
      return ''
    }
    // Only one choice was requested.
    const [choice] = choices as unknown[]
    if (!isStruct(choice)) return ''
    if (typeof choice['finish_reason'] === 'string') this.#finish = choice['finish_reason']
    const said = choice['delta'] ?? choice['message']
    return isStruct(said) ? this.#addMessage(said) : ''
  }

  get hasEnded(): boolean {
    return this.#finish !== ''
  }

  result(): AccumulatedAnswer {
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

  #addMessage(said: JsonFields): string {
    const text = textIn(said['content'])
    if (text !== '') this.#keep(this.#text, text)
    if (typeof said['refusal'] === 'string') this.#keep(this.#refusal, said['refusal'])
    const calls: unknown = said['tool_calls']
    if (Array.isArray(calls)) for (const call of calls as unknown[]) if (isStruct(call)) this.#hearCall(call)
    return text
  }

  #hearCall(given: JsonFields): void {
    const { index, id, function: called } = given
    const call = this.#callFor(typeof index === 'number' ? index : undefined, typeof id === 'string' ? id : '')
    if (!isStruct(called)) return
    // A name arrives whole. Endpoints that repeat it in every fragment mean the same call.
    if (typeof called['name'] === 'string' && call.name === '') call.name = called['name']
    const { arguments: input } = called
    if (typeof input === 'string') this.#keep(call.pieces, input)
    else if (isStruct(input)) this.#keep(call.pieces, JSON.stringify(input))
  }

  /**
   * Matches by index, as the API defines it. Some endpoints omit the index, or send 0 for every call and distinguish them
   * by id.
   */
  #callFor(index: number | undefined, id: string): PartialToolCall {
    const known = index === undefined ? this.#withId(id) : this.#byIndex.get(index)
    if (known !== undefined && (id === '' || known.id === '' || known.id === id)) {
      if (known.id === '') known.id = id
      return known
    }
    const call: PartialToolCall = { id, name: '', pieces: [] }
    this.#calls.push(call)
    if (index !== undefined) this.#byIndex.set(index, call)
    return call
  }

  #withId(id: string): PartialToolCall | undefined {
    return id === '' ? this.#calls.at(-1) : this.#calls.find((call) => call.id === id)
  }

  #keep(where: string[], piece: string): void {
    this.#length += piece.length
    if (this.#length > this.#limit) throw responseTooLarge(this.#limit)
    where.push(piece)
  }
}

/** Normalizes the finish reason. A model that calls tools has not stopped, whatever the endpoint reports. */
export function chatFinish({
  finishReason,
  toolCalls,
}: Pick<AccumulatedAnswer, 'finishReason' | 'toolCalls'>): ChatFinish {
  if (/filter|safety/i.test(finishReason)) return 'content_filter'
  if (/length|max_tokens/i.test(finishReason)) return 'length'
  return toolCalls.length > 0 ? 'tool_calls' : 'stop'
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return (content as unknown[])
    .map((part) => (isStruct(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('')
}

function usageIn(usage: JsonFields): TokenUsage {
  const number = (from: unknown, ...names: readonly string[]): number | undefined => {
    const value = isStruct(from)
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
