/**
 * How a run ended. The gateway says it in several ways: the second answer of `agent` in three forms (of which one is `ok`
 * and yet a failure), a chat event, the answer of `agent.wait`. What the gateway said is for the operator; callers get a
 * sentence of ours.
 */
import type { Struct } from '@parley/a2a'
import { joined } from './answer.ts'
import { fieldsOf, listIn, numberIn, textIn, textOfContent, textsIn } from './wire.ts'
import type { Answer, Fields } from './wire.ts'

export type Outcome =
  | { readonly kind: 'done'; readonly text: string; readonly media: readonly string[]; readonly usage?: Struct }
  | { readonly kind: 'failed'; readonly said: string; readonly cause: string }
  /** Somebody stopped it at the gateway. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'late' }
  /** The gateway went down with it, and may take it up again. */
  | { readonly kind: 'interrupted' }

/** Of the second answer to `agent`. */
export function agentEnding(answer: Answer): Outcome {
  const { payload } = answer
  const result = fieldsOf(payload['result'])
  const payloads = listIn(result, 'payloads')
  const status = payload['status']
  if (status === 'ok') {
    const good = payloads.filter((one) => one['isError'] !== true)
    const usage = usageIn(result)
    return {
      kind: 'done',
      text: joined(good.map((one) => textIn(one, 'text') ?? '')),
      media: good.flatMap(mediaIn),
      ...(usage !== undefined ? { usage } : {}),
    }
  }
  if (status === 'timeout') return stoppedBy(textIn(payload, 'stopReason'))
  const error = fieldsOf(fieldsOf(result['meta'])['error'])
  const told = answer.ok ? undefined : answer.error.message
  return failed(told ?? textIn(error, 'message') ?? textIn(payload, 'summary') ?? 'no reason given')
}

/** Of a chat event; nothing if the run goes on. */
export function chatEnding(payload: Fields): Outcome | undefined {
  const state = payload['state']
  if (state === 'final') return { kind: 'done', text: textOfChat(payload), media: [] }
  if (state === 'aborted') return stoppedBy(textIn(payload, 'stopReason') ?? 'rpc')
  if (state === 'error')
    return failed(textIn(payload, 'errorMessage') ?? textIn(payload, 'errorKind') ?? 'no reason given')
  return undefined
}

/** Of `agent.wait`; nothing if the run goes on, or the gateway knows of none: it says the same of both. */
export function waitEnding(payload: Fields): Outcome | undefined {
  const { status } = payload
  const stopReason = textIn(payload, 'stopReason')
  if (status === 'ok')
    return { kind: 'done', text: textIn(fieldsOf(payload['terminalReply']), 'text') ?? '', media: [] }
  if (status === 'error' && textIn(payload, 'error') === undefined && stopReason !== undefined)
    return stoppedBy(stopReason)
  if (status === 'error') return failed(textIn(payload, 'error') ?? 'no reason given')
  return numberIn(payload, 'endedAt') === undefined ? undefined : stoppedBy(stopReason)
}

export function textOfChat(payload: Fields): string {
  return textOfContent(fieldsOf(payload['message'])['content'])
}

/** A run that was aborted says by what; one whose time was up says nothing. */
function stoppedBy(reason: string | undefined): Outcome {
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
    "The agent's model provider does not let it in: its operator has to look",
  ],
  [/timed? ?out|timeout/i, "The agent's model did not answer in time"],
]

export function failed(cause: string): Outcome {
  const said = sentences.find(([pattern]) => pattern.test(cause))?.[1]
  return { kind: 'failed', said: said ?? 'The agent failed while it was working on the answer', cause }
}

function mediaIn(payload: Fields): readonly string[] {
  const one = textIn(payload, 'mediaUrl')
  return [...new Set([...(one === undefined ? [] : [one]), ...textsIn(payload, 'mediaUrls')])]
}

/** Counts only: what is beside them names hosts and paths. */
function usageIn(result: Fields): Struct | undefined {
  const usage = fieldsOf(fieldsOf(fieldsOf(result['meta'])['agentMeta'])['usage'])
  const input = numberIn(usage, 'input')
  const output = numberIn(usage, 'output')
  if (input === undefined || output === undefined) return undefined
  return { inputTokens: input, outputTokens: output, totalTokens: numberIn(usage, 'total') ?? input + output }
}
