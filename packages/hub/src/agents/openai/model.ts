/**
 * A model behind an OpenAI-compatible endpoint. A request is made again while nothing of its answer has been told to
 * anybody; what an endpoint turns out not to know (streams, the bill within a stream) is not asked of it again.
 */
import { A2AError } from '@parley/a2a'
import type { ChatAnswer, ChatEvent, ChatModel, ChatRequest, ModelCall } from '../chat-model.ts'
import type { KindParts } from '../kind.ts'
import { parseJson, readEvents, readJson } from './answer-body.ts'
import { contentReader } from './content.ts'
import type { Endpoint } from './endpoint.ts'
import type { OpenaiEntry } from './entry.ts'
import { brokenOff } from './failure.ts'
import { finishOf, Gathering } from './gather.ts'
import { openModelSpan } from './model-span.ts'
import { waitBeforeNext } from './retry.ts'
import { sleep } from './sleep.ts'

type ModelParts = Pick<KindParts, 'bytes' | 'now' | 'monotonicNow' | 'cost' | 'jsonNodes'>
type Headers = Readonly<Record<string, string>>

export function openaiModel(entry: OpenaiEntry, endpoint: Endpoint, parts: ModelParts): ChatModel {
  let streams = entry.stream !== false
  let billsStreams = true
  const content = contentReader(entry, parts.bytes)
  const limits = { bytes: entry.answerLimit, nodes: parts.jsonNodes }

  return { ask, ...content }

  async function* ask(request: ChatRequest): AsyncGenerator<ChatEvent> {
    const model = request.model ?? entry.model
    const span = openModelSpan(request.trace, { model, baseUrl: entry.baseUrl, cost: (call) => costOf(call, model) })
    try {
      for await (const event of tryToAsk(request, span.headers)) {
        if ('answer' in event) span.answered(event.answer.call)
        yield event
      }
    } catch (reason) {
      if (!request.signal.aborted) span.failed(reason)
      throw reason
    } finally {
      span.leave()
    }
  }

  /** By the name that the endpoint gives it, or by the one that it was asked for. */
  function costOf({ model, usage }: ModelCall, asked: string): number | undefined {
    return usage === undefined ? undefined : (parts.cost?.(model, usage) ?? parts.cost?.(asked, usage))
  }

  async function* tryToAsk(request: ChatRequest, headers: Headers): AsyncGenerator<ChatEvent> {
    const { signal, log } = request
    const startedAt = parts.now()
    const from = parts.monotonicNow()
    const leftAtStartMs = (request.deadlineAt ?? Infinity) - startedAt
    for (let attempt = 1; ; attempt += 1) {
      const gathering = new Gathering(entry.answerLimit)
      let isHeard = false
      try {
        for await (const text of askOnce(request, headers, gathering)) {
          isHeard = true
          yield { text }
        }
      } catch (reason) {
        signal.throwIfAborted()
        const failure = A2AError.from(reason)
        const leftMs = leftAtStartMs - (parts.monotonicNow() - from)
        const waitMs = isHeard ? undefined : waitBeforeNext(attempt, failure, { ...entry, leftMs })
        if (waitMs === undefined) throw failure
        log.warn('a model call failed and is made again', { attempt, waitMs, cause: failure.cause ?? failure })
        await sleep(waitMs, signal)
        continue
      }
      const about = { startedAt, durationMs: Math.round(parts.monotonicNow() - from), attempts: attempt }
      yield { answer: answerOf(gathering, request.model ?? entry.model, about) }
      return
    }
  }

  /** The text of one answer as it comes. An endpoint that refuses the manner of asking is asked in another. */
  async function* askOnce(request: ChatRequest, headers: Headers, gathering: Gathering): AsyncGenerator<string> {
    const { signal } = request
    for (;;) {
      try {
        const said = { body: bodyOf(request), signal, headers }
        yield* endpoint.post('/chat/completions', said, (response, heard) => readAnswer(response, gathering, heard))
        return
      } catch (reason) {
        if (!adapt(reason)) throw reason
        request.log.info('the endpoint does not stream as it was asked to', { streams, billsStreams })
      }
    }
  }

  /** Whether there is another way to ask. */
  function adapt(reason: unknown): boolean {
    if (!(reason instanceof A2AError) || !/^(400|405|415|422|501)$/.test(reason.details.status ?? '')) return false
    const said = reason.cause instanceof Error ? reason.cause.message : ''
    if (streams && billsStreams && /stream_options|include_usage/.test(said)) {
      billsStreams = false
      return true
    }
    if (!streams || entry.stream !== 'auto' || !/\bstream(ing|ed|s)?\b/i.test(said)) return false
    streams = false
    return true
  }

  function bodyOf({ messages, tools = [], model, responseFormat, options }: ChatRequest): object {
    return {
      ...entry.options,
      ...options,
      model: model ?? entry.model,
      messages,
      ...(tools.length > 0 ? { tools: tools.map((tool) => ({ type: 'function', function: tool })) } : {}),
      ...(responseFormat !== undefined ? { response_format: responseFormat } : {}),
      stream: streams,
      ...(streams && billsStreams ? { stream_options: { include_usage: true } } : {}),
    }
  }

  /** By what it is, not by what was asked for. */
  async function* readAnswer(response: Response, gathering: Gathering, heard: () => void): AsyncGenerator<string> {
    if (/\b(json|html)\b/i.test(response.headers.get('content-type') ?? '')) {
      const text = gathering.add(await readJson(response, limits, heard))
      if (text !== '') yield text
      return
    }
    for await (const data of readEvents(response, entry.answerLimit, heard)) {
      if (data.trim() === '[DONE]') return
      const text = gathering.add(parseJson(data, limits, 'a chunk that is no JSON'))
      if (text !== '') yield text
    }
    // Some do not say [DONE], some give no reason. Who does neither has not come to the end.
    if (!gathering.hasEnded) throw brokenOff(new Error('the stream ended before the answer did'))
  }
}

function answerOf(
  gathering: Gathering,
  asked: string,
  about: Pick<ModelCall, 'startedAt' | 'durationMs' | 'attempts'>,
): ChatAnswer {
  const { text, refusal, toolCalls, finishReason, model, usage } = gathering.result()
  const finish = finishOf({ finishReason, toolCalls })
  return {
    text,
    toolCalls,
    finish,
    ...(refusal !== '' ? { refusal } : {}),
    call: {
      model: model === '' ? asked : model,
      finishReason: finishReason === '' ? finish : finishReason,
      ...about,
      ...(usage !== undefined ? { usage } : {}),
    },
  }
}
