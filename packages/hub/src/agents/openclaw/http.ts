/**
 * One turn over the gateway's HTTP endpoint, which speaks the chat completions API and is off unless its operator turned
 * it on. Nothing can be found again there: the gateway stops a run whose caller has gone.
 */
import { A2AError, fail } from '@parley/a2a'
import type { AgentLog, Report, Struct, Turn } from '@parley/a2a'
import { defaultJsonNodes, exceedsJsonNodes } from '@parley/a2a/server'
import { createAnswer } from './answer.ts'
import type { OpenclawEntry } from './entry.ts'
import { failed } from './ending.ts'
import type { Limits } from './hello.ts'
import { answerName } from './plan.ts'
import type { Plan } from './plan.ts'
import type { Prompt } from './prompt.ts'
import { eventsIn } from './sse.ts'
import { fieldsOf, listIn, numberIn, textIn } from './wire.ts'
import type { Fields } from './wire.ts'

/** Of the endpoint: a body of 20 MB, and eight images in it. */
export const httpLimits: Limits = { frameBytes: 20_000_000, fileBytes: 0, imageBytes: 6_291_456 }
const mostImages = 8
/** What the endpoint says for a run that said nothing. */
const nothingSaid = 'No response from OpenClaw.'
/** How older gateways say that a run failed: as its text, and without a finish reason. */
const olderFailure = 'Error: internal error'

export interface HttpParts {
  readonly turn: Turn
  readonly plan: Plan
  readonly entry: OpenclawEntry
  readonly fetch: typeof fetch
  readonly log: AgentLog
  readonly traceparent: string
  /** JSON values in one answer or event. Default 100,000. */
  readonly jsonNodes?: number | undefined
  /** Whether the answer is wanted as it is written. */
  readonly streams: boolean
}

export async function* runByHttp(parts: HttpParts, prompt: Prompt): AsyncGenerator<Report, void, void> {
  const { turn, plan, entry, streams } = parts
  const response = await reach(parts.fetch, `${httpBase(entry.url)}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      ...authorization(entry),
      'content-type': 'application/json',
      'x-openclaw-session-key': plan.sessionKey,
      'x-openclaw-agent-id': entry.agent,
      traceparent: parts.traceparent,
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
  yield* isStream ? tellStream(response, parts) : tellWhole(await bodyOf(response, parts.jsonNodes), parts)
}

/** Whether the endpoint is there for us. Calls no model. */
export async function checkHttp(entry: OpenclawEntry, fetch: HttpParts['fetch'], signal: AbortSignal): Promise<void> {
  const response = await reach(fetch, `${httpBase(entry.url)}/v1/models`, { headers: authorization(entry), signal })
  await response.body?.cancel().catch(() => {})
}

export function httpBase(url: string): string {
  return url.replace(/^ws/i, 'http')
}

function authorization({ token, password }: OpenclawEntry): Record<string, string> {
  const secret = token ?? password
  return secret === undefined ? {} : { authorization: `Bearer ${secret}` }
}

async function reach(fetch: HttpParts['fetch'], url: string, init: RequestInit): Promise<Response> {
  let response: Response
  try {
    // A redirect would take the token elsewhere.
    response = await fetch(url, { ...init, redirect: 'error' })
  } catch (cause) {
    if (init.signal?.aborted === true) throw init.signal.reason
    throw unavailable('The OpenClaw gateway cannot be reached now', cause)
  }
  if (response.ok) return response
  throw refusalOf(response.status, await response.text().catch(() => ''), response.headers.get('retry-after'))
}

function refusalOf(status: number, body: string, retryAfter: string | null): A2AError {
  const cause = new Error(`the gateway answered ${status}: ${body.slice(0, 2_000)}`)
  if (status === 401 || status === 403) {
    return unavailable('The OpenClaw gateway does not take the configured credentials: its operator has to look', cause)
  }
  if (status === 404) {
    return unavailable(
      'The HTTP endpoint of the OpenClaw gateway is off: its operator has to set gateway.http.endpoints.chatCompletions.enabled',
      cause,
    )
  }
  if (status === 413)
    return new A2AError('PAYLOAD_TOO_LARGE', 'The message is too large for the OpenClaw gateway', {}, { cause })
  if (status === 429 || status === 503) {
    const waitMs = Number(retryAfter) * 1_000
    const details = Number.isFinite(waitMs) && waitMs > 0 ? { retryAfterMs: String(waitMs) } : {}
    return new A2AError('AGENT_UNAVAILABLE', 'The OpenClaw gateway takes no messages now: try again later', details, {
      cause,
    })
  }
  return unavailable(status < 500 ? 'The agent could not answer this message' : 'The OpenClaw gateway failed', cause)
}

function unavailable(said: string, cause: unknown): A2AError {
  return new A2AError('AGENT_UNAVAILABLE', said, {}, { cause })
}

async function bodyOf(response: Response, jsonNodes?: number): Promise<Fields> {
  try {
    const text = await response.text()
    checkNodes(text, jsonNodes)
    return fieldsOf(JSON.parse(text))
  } catch (cause) {
    throw unavailable('The OpenClaw gateway gave an answer that cannot be read', cause)
  }
}

async function* tellWhole(body: Fields, { turn, plan }: HttpParts): AsyncGenerator<Report, void, void> {
  turn.signal.throwIfAborted()
  const message = fieldsOf(listIn(body, 'choices')[0]?.['message'])
  const answer = createAnswer(answerName(plan.turn))
  yield* finish(answer, textIn(message, 'content') ?? '', usageOf(body))
}

async function* tellStream(response: Response, parts: HttpParts): AsyncGenerator<Report, void, void> {
  const { plan, log } = parts
  const answer = createAnswer(answerName(plan.turn))
  let text = ''
  let usage: Struct | undefined
  let isFinished = false
  let isDone = false
  for await (const chunk of chunksOf(response, parts)) {
    if (chunk === '[DONE]') {
      isDone = true
      break
    }
    const error = fieldsOf(chunk['error'])
    if (Object.keys(error).length > 0) return yield failure(textIn(error, 'message') ?? 'no reason given', log)
    const [choice = {}] = listIn(chunk, 'choices')
    isFinished ||= textIn(choice, 'finish_reason') !== undefined
    usage = usageOf(chunk) ?? usage
    const piece = textIn(fieldsOf(choice['delta']), 'content')
    if (piece === undefined) continue
    text += piece
    // It may yet turn out to be one of those that are no answer.
    if (nothingSaid.startsWith(text) || olderFailure.startsWith(text)) continue
    const report = answer.become(text)
    if (report !== undefined) yield report
  }
  if (!isFinished && text === olderFailure) return yield failure(text, log)
  if (!isDone && !isFinished) return yield failure('the stream broke off', log)
  yield* finish(answer, text, usage)
}

function* finish(
  answer: ReturnType<typeof createAnswer>,
  text: string,
  usage: Struct | undefined,
): Generator<Report, void, void> {
  const report = text === nothingSaid ? undefined : answer.become(text)
  if (report !== undefined) yield report
  const last = answer.close()
  if (last !== undefined) yield last
  if (usage !== undefined) yield { state: 'TASK_STATE_COMPLETED', metadata: { usage } }
}

function failure(cause: string, log: AgentLog): Report {
  log.warn('a run failed at the OpenClaw gateway', { cause })
  const outcome = failed(cause)
  return fail(outcome.kind === 'failed' ? outcome.said : cause)
}

async function* chunksOf(response: Response, { turn, log, jsonNodes }: HttpParts): AsyncGenerator<Fields | '[DONE]'> {
  try {
    for await (const data of eventsIn(response.body)) {
      checkNodes(data, jsonNodes)
      if (data === '[DONE]') yield data
      else yield fieldsOf(parsed(data))
    }
  } catch (cause) {
    // A stream that breaks off ends without its end, which is noticed; one that was left says by whom.
    turn.signal.throwIfAborted()
    log.warn('a stream of the OpenClaw gateway could not be read to its end', { cause })
  }
}

function checkNodes(text: string, jsonNodes = defaultJsonNodes): void {
  if (exceedsJsonNodes(text, jsonNodes)) throw new Error(`it holds more than ${jsonNodes} JSON values`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

function usageOf(body: Fields): Struct | undefined {
  const usage = fieldsOf(body['usage'])
  const input = numberIn(usage, 'prompt_tokens')
  const output = numberIn(usage, 'completion_tokens')
  // Older gateways say zero of everything.
  if (input === undefined || output === undefined || input + output === 0) return undefined
  return { inputTokens: input, outputTokens: output, totalTokens: numberIn(usage, 'total_tokens') ?? input + output }
}

/** Before anything is asked of the gateway. */
export function checkImages({ attachments }: Prompt): void {
  if (attachments.length <= mostImages) return
  throw new A2AError(
    'INVALID_PARAMS',
    `message.parts holds more than ${mostImages} images, which is all that is taken here`,
    {
      violations: [{ field: 'message.parts', description: `must not hold more than ${mostImages} images` }],
    },
  )
}

function contentOf({ text, attachments }: Prompt): string | readonly Fields[] {
  if (attachments.length === 0) return text
  const images = attachments.map(({ mimeType, content }) => ({
    type: 'image_url',
    image_url: { url: `data:${mimeType};base64,${content}` },
  }))
  return [{ type: 'text', text }, ...images]
}
