/**
 * A model behind an OpenAI-compatible endpoint. A request is retried while no part of its answer has been reported.
 * Features that the endpoint does not support (streams, usage within a stream) are not requested again.
 */
import { A2AError } from '@parley/a2a'
import { backoffMs, omitUndefined } from '@parley/a2a/internal'
import type { ChatAnswer, ChatEvent, ChatModel, ChatRequest, ModelCall } from '../chat-model.ts'
import type { AgentServices } from '../kind.ts'
import { parseJson, readEvents, readJson } from './response-body.ts'
import { createContentReader } from './content.ts'
import type { ModelEndpoint } from './endpoint.ts'
import type { OpenaiEntry } from './entry.ts'
import { answerInterrupted } from './model-errors.ts'
import { chatFinish, AnswerAccumulator } from './answer-accumulator.ts'
import { abortableSleep } from '../timeouts.ts'
import { openModelSpan } from './model-span.ts'

type ModelDeps = Pick<AgentServices, 'readPart' | 'now' | 'monotonicNow' | 'cost' | 'jsonNodes'>
type Headers = Readonly<Record<string, string>>

export function openaiModel(entry: OpenaiEntry, endpoint: ModelEndpoint, deps: ModelDeps): ChatModel {
  let streams = entry.stream !== false
  let billsStreams = true
  const content = createContentReader(entry, deps.readPart)
  const limits = { bytes: entry.answerLimit, nodes: deps.jsonNodes }

  return { ask, ...content }

  async function* ask(request: ChatRequest): AsyncGenerator<ChatEvent> {
    const model = request.model ?? entry.model
    const span = openModelSpan(request.trace, { model, baseUrl: entry.baseUrl, cost: (call) => costOf(call, model) })
    try {
      for await (const event of askWithRetries(request, span.headers)) {
        if ('answer' in event) span.answered(event.answer.call)
        yield event
      }
    } catch (reason) {
      if (!request.signal.aborted) span.failed(reason)
      throw reason
    } finally {
      span.cancel()
    }
  }

  /** By the model name that the endpoint returns, or else by the requested one. */
  function costOf({ model, usage }: ModelCall, asked: string): number | undefined {
    return usage === undefined ? undefined : (deps.cost?.(model, usage) ?? deps.cost?.(asked, usage))
  }

  async function* askWithRetries(request: ChatRequest, headers: Headers): AsyncGenerator<ChatEvent> {
    const { signal, log } = request
    const startedAt = deps.now()
    const from = deps.monotonicNow()
    const leftAtStartMs = (request.deadlineAt ?? Infinity) - startedAt
    for (let attempt = 1; ; attempt += 1) {
      const accumulator = new AnswerAccumulator(entry.answerLimit)
      let isHeard = false
      try {
        for await (const text of askOnce(request, headers, accumulator)) {
          isHeard = true
          yield { text }
        }
      } catch (reason) {
        signal.throwIfAborted()
        const failure = A2AError.from(reason)
        const leftMs = leftAtStartMs - (deps.monotonicNow() - from)
        const waitMs = isHeard ? undefined : retryDelayMs(attempt, failure, { ...entry, leftMs })
        if (waitMs === undefined) throw failure
        log.warn('a model call failed; retrying', { attempt, waitMs, cause: failure.cause ?? failure })
        await abortableSleep(waitMs, signal)
        continue
      }
      const about = { startedAt, durationMs: Math.round(deps.monotonicNow() - from), attempts: attempt }
      yield { answer: answerOf(accumulator, request.model ?? entry.model, about) }
      return
    }
  }

  /** Streams the text of one answer. If the endpoint rejects a feature, the request is sent without it. */
  async function* askOnce(
    request: ChatRequest,
    headers: Headers,
    accumulator: AnswerAccumulator,
  ): AsyncGenerator<string> {
    const { signal } = request
    for (;;) {
      try {
        const said = { body: bodyOf(request), signal, headers }
        yield* endpoint.post('/chat/completions', said, (response, onActivity) =>
          readAnswer(response, accumulator, onActivity),
        )
        return
      } catch (reason) {
        if (!disableUnsupported(reason)) throw reason
        request.log.info('the endpoint does not stream although streaming was requested', { streams, billsStreams })
      }
    }
  }

  /** Disables an unsupported feature. Returns whether there was one to disable. */
  function disableUnsupported(reason: unknown): boolean {
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
      ...omitUndefined({ response_format: responseFormat }),
      stream: streams,
      ...(streams && billsStreams ? { stream_options: { include_usage: true } } : {}),
    }
  }

  /** By the type of the response, not by what was requested. */
  async function* readAnswer(
    response: Response,
    accumulator: AnswerAccumulator,
    onActivity: () => void,
  ): AsyncGenerator<string> {
    if (/\b(json|html)\b/i.test(response.headers.get('content-type') ?? '')) {
      const text = accumulator.add(await readJson(response, limits, onActivity))
      if (text !== '') yield text
      return
    }
    for await (const data of readEvents(response, entry.answerLimit, onActivity)) {
      if (data.trim() === '[DONE]') return
      const text = accumulator.add(parseJson(data, limits, 'a chunk that is not JSON'))
      if (text !== '') yield text
    }
    // Some endpoints send no [DONE], some no finish reason. If both are missing, the answer is incomplete.
    if (!accumulator.hasEnded) throw answerInterrupted(new Error('the stream ended before the answer did'))
  }
}

function answerOf(
  accumulator: AnswerAccumulator,
  asked: string,
  about: Pick<ModelCall, 'startedAt' | 'durationMs' | 'attempts'>,
): ChatAnswer {
  const { text, refusal, toolCalls, finishReason, model, usage } = accumulator.result()
  const finish = chatFinish({ finishReason, toolCalls })
  return {
    text,
    toolCalls,
    finish,
    ...(refusal !== '' ? { refusal } : {}),
    call: {
      model: model === '' ? asked : model,
      finishReason: finishReason === '' ? finish : finishReason,
      ...about,
      ...omitUndefined({ usage }),
    },
  }
}

interface RetryPolicy {
  readonly retries: number
  /** The longest single wait; if the endpoint asks for a longer one, the request is not retried. */
  readonly retryWait: number
  /** Time that is left for the answer. */
  readonly leftMs?: number
}

const firstWaitMs = 500

/** How long to wait before attempt number `attempt + 1`, or undefined to give up. The first attempt is 1. */
export function retryDelayMs(
  attempt: number,
  failure: A2AError,
  { retries, retryWait, leftMs = Infinity }: RetryPolicy,
  random: () => number = Math.random,
): number | undefined {
  if (attempt > retries || !failure.retryable) return undefined
  const waitMs = Number(failure.details.retryAfterMs ?? backoffMs(attempt, firstWaitMs, retryWait, random))
  return waitMs <= retryWait && waitMs < leftMs ? waitMs : undefined
}
