/**
 * One turn over the gateway's HTTP endpoint, which implements the chat completions API and is disabled by default. A run cannot
 * be resumed: the gateway stops it when the client disconnects.
 */
import { A2AError, fail, type AgentLog, type Report, type Struct, type Turn } from '@parley/a2a'
import { defaultJsonNodes, exceedsJsonNodes } from '@parley/a2a/internal'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import { createGrowingAnswer } from './growing-answer.ts'
import type { OpenClawEntry } from './entry.ts'
import { failedOutcome } from './run-outcome.ts'
import type { GatewayLimits } from './gateway/hello.ts'
import { answerArtifactId, type RunPlan } from './run-plan.ts'
import type { OpenClawPrompt } from './prompt.ts'
import { asFields, listField, numberField, stringField, type GatewayFields } from './gateway/frames.ts'
import { attempt } from '../../json/attempt.ts'
import { httpBase, gatewayAuthorization, requestGateway, gatewayUnavailableError } from './http-endpoint.ts'

/** Limits of the endpoint: a body of 20 MB with at most eight images. */
export const httpLimits: GatewayLimits = { frameBytes: 20_000_000, fileBytes: 0, imageBytes: 6_291_456 }
const maxImages = 8
/** The text of the endpoint for a run without output. */
const emptyRunText = 'No response from OpenClaw.'
/** The text with which older gateways report a failed run, without a finish reason. */
const legacyFailureText = 'Error: internal error'

export interface HttpRunDeps {
  readonly turn: Turn
  readonly plan: RunPlan
  readonly entry: OpenClawEntry
  readonly fetch: typeof fetch
  readonly log: AgentLog
  readonly traceparent: string
  /** Limit of JSON values in one response or event. Default 100,000. */
  readonly jsonNodes?: number | undefined
  /** Whether to stream the answer. */
  readonly streams: boolean
}

export async function* runByHttp(deps: HttpRunDeps, prompt: OpenClawPrompt): AsyncGenerator<Report, void, void> {
  const { turn, plan, entry, streams } = deps
  const response = await requestGateway(deps.fetch, `${httpBase(entry.url)}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      ...gatewayAuthorization(entry),
      'content-type': 'application/json',
      'x-openclaw-session-key': plan.sessionKey,
      'x-openclaw-agent-id': entry.agent,
      traceparent: deps.traceparent,
    },
    body: JSON.stringify({
      model: `openclaw/${entry.agent}`,
      messages: [{ role: 'user', content: contentOf(prompt) }],
      user: plan.sessionKey,
      stream: streams,
      ...(streams ? { stream_options: { include_usage: true } } : {}),
    }),
    signal: turn.signal,
  })
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  yield* isStream ? reportStream(response, deps) : reportWhole(await bodyOf(response, deps.jsonNodes), deps)
}

async function bodyOf(response: Response, jsonNodes?: number): Promise<GatewayFields> {
  try {
    const text = await response.text()
    checkNodes(text, jsonNodes)
    return asFields(JSON.parse(text))
  } catch (cause) {
    throw gatewayUnavailableError('The OpenClaw gateway returned a response that cannot be read', cause)
  }
}

async function* reportWhole(body: GatewayFields, { turn, plan }: HttpRunDeps): AsyncGenerator<Report, void, void> {
  turn.signal.throwIfAborted()
  const message = asFields(listField(body, 'choices')[0]?.['message'])
  const answer = createGrowingAnswer(answerArtifactId(plan.turn))
  yield* finish(answer, stringField(message, 'content') ?? '', usageOf(body))
}

async function* reportStream(response: Response, deps: HttpRunDeps): AsyncGenerator<Report, void, void> {
  const { plan, log } = deps
  const answer = createGrowingAnswer(answerArtifactId(plan.turn))
  let text = ''
  let usage: Struct | undefined
  let isFinished = false
  let isDone = false
  for await (const chunk of chunksOf(response, deps)) {
    if (chunk === '[DONE]') {
      isDone = true
      break
    }
    const error = asFields(chunk['error'])
    if (Object.keys(error).length > 0) return yield failure(stringField(error, 'message') ?? 'no reason given', log)
    const [choice = {}] = listField(chunk, 'choices')
    isFinished ||= stringField(choice, 'finish_reason') !== undefined
    usage = usageOf(chunk) ?? usage
    const piece = stringField(asFields(choice['delta']), 'content')
    if (piece === undefined) continue
    text += piece
    // The text may still turn out to be one of these, which are not answers.
    if (emptyRunText.startsWith(text) || legacyFailureText.startsWith(text)) continue
    const report = answer.update(text)
    if (report !== undefined) yield report
  }
  if (!isFinished && text === legacyFailureText) return yield failure(text, log)
  if (!isDone && !isFinished) return yield failure('the stream broke off', log)
  yield* finish(answer, text, usage)
}

function* finish(
  answer: ReturnType<typeof createGrowingAnswer>,
  text: string,
  usage: Struct | undefined,
): Generator<Report, void, void> {
  const report = text === emptyRunText ? undefined : answer.update(text)
  if (report !== undefined) yield report
  const last = answer.close()
  if (last !== undefined) yield last
  if (usage !== undefined) yield { state: 'TASK_STATE_COMPLETED', metadata: { usage } }
}

function failure(cause: string, log: AgentLog): Report {
  log.warn('a run failed at the OpenClaw gateway', { cause })
  const outcome = failedOutcome(cause)
  return fail(outcome.kind === 'failed' ? outcome.said : cause)
}

async function* chunksOf(
  response: Response,
  { turn, log, jsonNodes }: HttpRunDeps,
): AsyncGenerator<GatewayFields | '[DONE]'> {
  try {
    for await (const data of eventsIn(response.body)) {
      checkNodes(data, jsonNodes)
      if (data === '[DONE]') yield data
      else yield asFields(attempt((): unknown => JSON.parse(data)))
    }
  } catch (cause) {
    // A stream that breaks has no end marker, which is detected; an aborted one throws its reason.
    turn.signal.throwIfAborted()
    log.warn('a stream of the OpenClaw gateway could not be read to its end', { cause })
  }
}

/** Yields the `data` of each server-sent event. Ending the iteration early releases the connection. */
export async function* eventsIn(body: ReadableStream<Uint8Array> | null): AsyncGenerator<string> {
  const events = body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
  for await (const { data } of events ?? []) yield data
}

function checkNodes(text: string, jsonNodes = defaultJsonNodes): void {
  if (exceedsJsonNodes(text, jsonNodes)) throw new Error(`it holds more than ${jsonNodes} JSON values`)
}

function usageOf(body: GatewayFields): Struct | undefined {
  const usage = asFields(body['usage'])
  const input = numberField(usage, 'prompt_tokens')
  const output = numberField(usage, 'completion_tokens')
  // Older gateways report zero for all counts.
  if (input === undefined || output === undefined || input + output === 0) return undefined
  return { inputTokens: input, outputTokens: output, totalTokens: numberField(usage, 'total_tokens') ?? input + output }
}

/** Checked before the gateway gets any request. */
export function checkImages({ attachments }: OpenClawPrompt): void {
  if (attachments.length <= maxImages) return
  throw new A2AError('INVALID_PARAMS', `message.parts holds more than ${maxImages} images, the maximum`, {
    violations: [{ field: 'message.parts', description: `must not hold more than ${maxImages} images` }],
  })
}

function contentOf({ text, attachments }: OpenClawPrompt): string | readonly GatewayFields[] {
  if (attachments.length === 0) return text
  const images = attachments.map(({ mimeType, content }) => ({
    type: 'image_url',
    image_url: { url: `data:${mimeType};base64,${content}` },
  }))
  return [{ type: 'text', text }, ...images]
}
