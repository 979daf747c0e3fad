/**
 * How a run ended. The gateway reports it in several ways: the second response of `agent` in three forms (of which one is
 * `ok` and yet a failure), a chat event, or the response of `agent.wait`. The gateway's text is for the operator; callers
 * get a sentence of ours.
 */
import type { Struct } from '@parley/a2a'
import { joinTexts } from './growing-answer.ts'
import { asFields, listField, numberField, stringField, contentText, stringListField } from './gateway/frames.ts'
import type { GatewayResponse, GatewayFields } from './gateway/frames.ts'

export type RunOutcome =
  | { readonly kind: 'done'; readonly text: string; readonly media: readonly string[]; readonly usage?: Struct }
  | { readonly kind: 'failed'; readonly said: string; readonly cause: string }
  /** The run was stopped at the gateway. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'late' }
  /** The gateway shut down during the run and may resume it. */
  | { readonly kind: 'interrupted' }

/** From the second response to `agent`. */
export function outcomeOfAgent(answer: GatewayResponse): RunOutcome {
  const { payload } = answer
  const result = asFields(payload['result'])
  const payloads = listField(result, 'payloads')
  const status = payload['status']
  if (status === 'ok') {
    const good = payloads.filter((one) => one['isError'] !== true)
    const usage = usageIn(result)
    return {
      kind: 'done',
      text: joinTexts(good.map((one) => stringField(one, 'text') ?? '')),
      media: good.flatMap(mediaIn),
      ...(usage !== undefined ? { usage } : {}),
    }
  }
  if (status === 'timeout') return outcomeOfStop(stringField(payload, 'stopReason'))
  const error = asFields(asFields(result['meta'])['error'])
  const refusal = answer.ok ? undefined : answer.error.message
  return failedOutcome(refusal ?? stringField(error, 'message') ?? stringField(payload, 'summary') ?? 'no reason given')
}

/** From a chat event; undefined if the run continues. */
export function outcomeOfChat(payload: GatewayFields): RunOutcome | undefined {
  const state = payload['state']
  if (state === 'final') return { kind: 'done', text: chatText(payload), media: [] }
  if (state === 'aborted') return outcomeOfStop(stringField(payload, 'stopReason') ?? 'rpc')
  if (state === 'error')
    return failedOutcome(stringField(payload, 'errorMessage') ?? stringField(payload, 'errorKind') ?? 'no reason given')
  return undefined
}

/** From `agent.wait`; undefined if the run continues or is unknown, which the gateway does not distinguish. */
export function outcomeOfWait(payload: GatewayFields): RunOutcome | undefined {
  const { status } = payload
  const stopReason = stringField(payload, 'stopReason')
  if (status === 'ok')
    return { kind: 'done', text: stringField(asFields(payload['terminalReply']), 'text') ?? '', media: [] }
  if (status === 'error' && stringField(payload, 'error') === undefined && stopReason !== undefined)
    return outcomeOfStop(stopReason)
  if (status === 'error') return failedOutcome(stringField(payload, 'error') ?? 'no reason given')
  return numberField(payload, 'endedAt') === undefined ? undefined : outcomeOfStop(stopReason)
}

export function chatText(payload: GatewayFields): string {
  return contentText(asFields(payload['message'])['content'])
}

/** An aborted run names its reason; a run that timed out has none. */
function outcomeOfStop(reason: string | undefined): RunOutcome {
  if (reason === undefined || reason === 'timeout') return { kind: 'late' }
  return reason === 'restart' ? { kind: 'interrupted' } : { kind: 'stopped' }
}

const sentences: readonly (readonly [RegExp, string])[] = [
  [/rate.?limit|too many requests|\b429\b|quota/i, "The agent's model is over its rate limit: try again later"],
  [/billing|insufficient|payment|credit/i, "The agent's account with its model provider is used up"],
  [/overloaded|\b50[234]\b|unavailable|capacity/i, "The agent's model is down or overloaded: try again later"],
  [
    /context.?(length|window)|too many tokens|prompt is too long/i,
    "The conversation is too long for the agent's model",
  ],
  [
    /api.?key|unauthorized|\b401\b|\b403\b|auth/i,
    "The model provider rejected the agent's credentials: ask the operator to check them",
  ],
  [/timed? ?out|timeout/i, "The agent's model did not answer in time"],
]

export function failedOutcome(cause: string): RunOutcome {
  const said = sentences.find(([pattern]) => pattern.test(cause))?.[1]
  return { kind: 'failed', said: said ?? 'The agent failed while it was working on the answer', cause }
}

function mediaIn(payload: GatewayFields): readonly string[] {
  const one = stringField(payload, 'mediaUrl')
  return [...new Set([...(one === undefined ? [] : [one]), ...stringListField(payload, 'mediaUrls')])]
}

/** Only the counts: the other fields contain hosts and paths. */
function usageIn(result: GatewayFields): Struct | undefined {
  const usage = asFields(asFields(asFields(result['meta'])['agentMeta'])['usage'])
  const input = numberField(usage, 'input')
  const output = numberField(usage, 'output')
  if (input === undefined || output === undefined) return undefined
  return { inputTokens: input, outputTokens: output, totalTokens: numberField(usage, 'total') ?? input + output }
}
