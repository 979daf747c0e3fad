/**
 * What the gateway's transcript of a session tells about one turn. It outlives everything else: what the gateway keeps in
 * memory (answers to repeated requests for five minutes, ends of runs a little longer) is gone after its restart.
 */
import { A2AError } from '@parley/a2a'
import { joined } from './answer.ts'
import { failed } from './ending.ts'
import type { Outcome } from './ending.ts'
import type { Line } from './line.ts'
import { fieldsOf, listIn, numberIn, textIn, textOfContent } from './wire.ts'
import type { Fields } from './wire.ts'

export interface Transcript {
  /** The gateway has the message that began the turn. */
  readonly isKnown: boolean
  /** Something runs in this session, or is about to. */
  readonly isActive: boolean
  /** What runs now, and what it has said so far. */
  readonly running?: { readonly runId: string; readonly text: string }
  /** How the turn ended, as far as the transcript tells. */
  readonly outcome?: Outcome
}

/** A turn with many tools is many messages. */
const pageLength = 200

export async function readTranscript(line: Line, sessionKey: string, key: string): Promise<Transcript> {
  const answer = await line.request('chat.history', { sessionKey, limit: pageLength })
  if (!answer.ok) {
    const cause = new Error(`chat.history: ${answer.error.code} ${answer.error.message}`)
    throw new A2AError('AGENT_UNAVAILABLE', 'The OpenClaw gateway does not tell what became of the task', {}, { cause })
  }
  return transcriptOf(answer.payload, key)
}

export function transcriptOf(history: Fields, key: string): Transcript {
  const messages = listIn(history, 'messages')
  const session = fieldsOf(history['sessionInfo'])
  const inFlight = fieldsOf(history['inFlightRun'])
  const runId = textIn(inFlight, 'runId')
  const queued = numberIn(fieldsOf(history['pendingInputs']), 'total') ?? 0
  const begins = messages.findIndex((message) => isMessageOf(message, key))
  const outcome = outcomeOf(
    begins < 0 ? messages.filter((message) => runOf(message) === key) : turnFrom(messages, begins),
  )
  return {
    isKnown: begins >= 0,
    isActive: session['hasActiveRun'] === true || runId !== undefined || queued > 0,
    ...(runId !== undefined ? { running: { runId, text: textIn(inFlight, 'text') ?? '' } } : {}),
    ...(outcome !== undefined ? { outcome } : {}),
  }
}

/** The gateway marks what a request said with the request's key. */
function isMessageOf(message: Fields, key: string): boolean {
  const marked = textIn(message, 'idempotencyKey') ?? textIn(fieldsOf(message['__openclaw']), 'idempotencyKey')
  return message['role'] === 'user' && marked === `${key}:user`
}

function runOf(message: Fields): string | undefined {
  return textIn(fieldsOf(message['__openclaw']), 'runId')
}

/** What came after it, up to the next message of a caller. The gateway's own, after its restart, belongs to the turn. */
function turnFrom(messages: readonly Fields[], begins: number): readonly Fields[] {
  const after = messages.slice(begins + 1)
  const end = after.findIndex((message) => message['role'] === 'user' && !isOfGateway(message))
  return end < 0 ? after : after.slice(0, end)
}

function isOfGateway(message: Fields): boolean {
  return textOfContent(message['content']).trimStart().startsWith('[System]')
}

function outcomeOf(turn: readonly Fields[]): Outcome | undefined {
  const said = turn.filter((message) => message['role'] === 'assistant')
  const stopReason = said.at(-1)?.['stopReason']
  if (said.length === 0 || stopReason === 'toolUse' || stopReason === 'tool_calls') return undefined
  if (stopReason === 'error')
    return failed(textIn(said.at(-1) ?? {}, 'errorMessage') ?? 'the transcript ends with an error')
  if (stopReason === 'aborted') return { kind: 'stopped' }
  return { kind: 'done', text: joined(said.map((message) => textOfContent(message['content']).trim())), media: [] }
}
