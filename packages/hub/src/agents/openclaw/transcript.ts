/**
 * Reads what the gateway's transcript of a session tells about one turn. The transcript outlives everything else: the
 * gateway's in-memory state (responses to repeated requests for five minutes, ends of runs a little longer) is lost when it
 * restarts.
 */
import { A2AError } from '@parley/a2a'
import { omitUndefined } from '@parley/a2a/internal'
import { joinTexts } from './growing-answer.ts'
import { failedOutcome, type RunOutcome } from './run-outcome.ts'
import type { OpenClawConnection } from './gateway/connection.ts'
import { asFields, listField, numberField, stringField, contentText, type GatewayFields } from './gateway/frames.ts'

export interface Transcript {
  /** The gateway has the message of the turn. */
  readonly isKnown: boolean
  /** A run is active in this session, or about to start. */
  readonly isActive: boolean
  /** The current run and its text so far. */
  readonly running?: { readonly runId: string; readonly text: string }
  /** How the turn ended, if the transcript shows it. */
  readonly outcome?: RunOutcome
}

/** A turn with many tools consists of many messages. */
const pageLength = 200

export async function readTranscript(
  connection: OpenClawConnection,
  sessionKey: string,
  key: string,
): Promise<Transcript> {
  const answer = await connection.request('chat.history', { sessionKey, limit: pageLength })
  if (!answer.ok) {
    const cause = new Error(`chat.history: ${answer.error.code} ${answer.error.message}`)
    throw new A2AError(
      'AGENT_UNAVAILABLE',
      'The OpenClaw gateway does not report the outcome of the task',
      {},
      { cause },
    )
  }
  return transcriptOf(answer.payload, key)
}

export function transcriptOf(history: GatewayFields, key: string): Transcript {
  const messages = listField(history, 'messages')
  const session = asFields(history['sessionInfo'])
  const inFlight = asFields(history['inFlightRun'])
  const runId = stringField(inFlight, 'runId')
  const queued = numberField(asFields(history['pendingInputs']), 'total') ?? 0
  const startIndex = messages.findIndex((message) => isMessageOf(message, key))
  const outcome = outcomeOf(
    startIndex < 0 ? messages.filter((message) => runOf(message) === key) : messagesOfTurn(messages, startIndex),
  )
  return {
    isKnown: startIndex >= 0,
    isActive: session['hasActiveRun'] === true || runId !== undefined || queued > 0,
    ...(runId !== undefined ? { running: { runId, text: stringField(inFlight, 'text') ?? '' } } : {}),
    ...omitUndefined({ outcome }),
  }
}

/** The gateway marks the message of a request with the request's key. */
function isMessageOf(message: GatewayFields, key: string): boolean {
  const marked =
    stringField(message, 'idempotencyKey') ?? stringField(asFields(message['__openclaw']), 'idempotencyKey')
  return message['role'] === 'user' && marked === `${key}:user`
}

function runOf(message: GatewayFields): string | undefined {
  return stringField(asFields(message['__openclaw']), 'runId')
}

/** The messages after it, up to the next message of a caller. The gateway's own message after a restart belongs to the turn. */
function messagesOfTurn(messages: readonly GatewayFields[], startIndex: number): readonly GatewayFields[] {
  const after = messages.slice(startIndex + 1)
  const end = after.findIndex((message) => message['role'] === 'user' && !isGatewayMessage(message))
  return end < 0 ? after : after.slice(0, end)
}

function isGatewayMessage(message: GatewayFields): boolean {
  return contentText(message['content']).trimStart().startsWith('[System]')
}

function outcomeOf(turn: readonly GatewayFields[]): RunOutcome | undefined {
  const said = turn.filter((message) => message['role'] === 'assistant')
  const stopReason = said.at(-1)?.['stopReason']
  if (said.length === 0 || stopReason === 'toolUse' || stopReason === 'tool_calls') return undefined
  if (stopReason === 'error')
    return failedOutcome(stringField(said.at(-1) ?? {}, 'errorMessage') ?? 'the transcript ends with an error')
  if (stopReason === 'aborted') return { kind: 'stopped' }
  return { kind: 'done', text: joinTexts(said.map((message) => contentText(message['content']).trim())), media: [] }
}
