/** The status of a turn at the gateway: after it was sent, after the connection or the process was lost, and at its end. */
import { A2AError, type AgentLog } from '@parley/a2a'
import { abortableSleep } from '../timeouts.ts'
import { outcomeOfAgent, outcomeOfWait, type RunOutcome } from './run-outcome.ts'
import type { OpenClawConnection } from './gateway/connection.ts'
import type { RunPlan } from './run-plan.ts'
import { readTranscript } from './transcript.ts'
import type { GatewayFields, GatewayError } from './gateway/frames.ts'

export type RunStatus =
  /** Started on this connection, which receives its end. */
  | { readonly at: 'begun' }
  /** Running, but started on another connection: its end must be polled. */
  | { readonly at: 'found'; readonly text?: string }
  /** Not under our id: the gateway resumed it after a restart, or queued it. The session shows its progress. */
  | { readonly at: 'session'; readonly streams: boolean }
  | { readonly at: 'end'; readonly outcome: RunOutcome }
  /** The gateway never received it. */
  | { readonly at: 'nowhere' }

export interface SendRunDeps {
  readonly connection: OpenClawConnection
  readonly plan: RunPlan
  readonly params: GatewayFields
  readonly traceparent: string
  readonly onEnd: (outcome: RunOutcome) => void
  readonly signal: AbortSignal
  readonly log: AgentLog
}

/** How many times a temporarily refused request is sent. */
const attempts = 5
const acceptMs = 60_000

/** Asks the gateway to run the turn. */
export async function sendRun(deps: SendRunDeps): Promise<RunStatus> {
  const { connection, plan, params, traceparent, onEnd, signal, log } = deps
  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted()
    const answer = await connection.request(plan.method, params, {
      timeoutMs: acceptMs,
      traceparent,
      ...(plan.method === 'agent' ? { onSecondResponse: (later) => onEnd(outcomeOfAgent(later)) } : {}),
    })
    const { status } = answer.payload
    if (answer.ok && (status === 'accepted' || status === 'started')) return { at: 'begun' }
    if (answer.ok && status === 'in_flight') return { at: 'found' }
    // The gateway knows the key and reports how its run ended.
    if (status !== undefined && plan.method === 'agent') return { at: 'end', outcome: outcomeOfAgent(answer) }
    if (answer.ok && status === 'ok') return { at: 'session', streams: false }
    const refusal = answer.ok ? undefined : answer.error
    if (refusal === undefined || !isTemporary(refusal) || attempt === attempts) throw rejectedError(refusal, log)
    await abortableSleep(refusal.retryAfterMs ?? 500 * attempt, signal)
  }
}

/** While a session is resumed after a restart, only the text says "Retry". */
function isTemporary({ code, retryable, message }: GatewayError): boolean {
  return code === 'UNAVAILABLE' && (retryable || /retry/i.test(message))
}

function rejectedError(refusal: GatewayError | undefined, log: AgentLog): A2AError {
  const { code, message } = refusal ?? { code: 'UNKNOWN', message: 'an answer without a status' }
  log.warn('the OpenClaw gateway refused a message', { code, message })
  const said =
    code === 'UNAVAILABLE'
      ? 'The OpenClaw gateway accepts no messages now: try again later'
      : code === 'FORBIDDEN'
        ? 'The OpenClaw gateway denies this operation to the hub: ask its operator'
        : 'The OpenClaw gateway rejected this message'
  return new A2AError('AGENT_UNAVAILABLE', said, {}, { cause: new Error(`${code}: ${message}`) })
}

/**
 * Finds out what became of a turn, in an order that never runs it twice. A repeated request with a known key is answered
 * from memory for five minutes after its run ended; later it would run again and corrupt the transcript. So it is sent
 * again only if it is unknown everywhere, and never to a restarted gateway.
 */
export async function findRunStatus(connection: OpenClawConnection, plan: RunPlan): Promise<RunStatus> {
  const { key, sessionKey } = plan
  const isSameStart = connection.hello.bootId === plan.bootId
  const ended = isSameStart ? await queryRunEnd(connection, key, 1) : undefined
  const seen = await readTranscript(connection, sessionKey, key)
  if (ended !== undefined) return { at: 'end', outcome: mergeOutcomes(ended, seen.outcome) }
  if (seen.running?.runId === key) return { at: 'found', text: seen.running.text }
  if (seen.outcome !== undefined && !seen.isActive) return { at: 'end', outcome: seen.outcome }
  if (!isSameStart) return { at: 'session', streams: true }
  if (seen.isKnown) return seen.isActive ? { at: 'found' } : { at: 'session', streams: true }
  return { at: 'nowhere' }
}

/** The end of a run if it comes within this time. */
async function queryRunEnd(
  connection: OpenClawConnection,
  runId: string,
  waitMs: number,
): Promise<RunOutcome | undefined> {
  const answer = await connection.request('agent.wait', { runId, timeoutMs: waitMs }, { timeoutMs: waitMs + 15_000 })
  return answer.ok ? outcomeOfWait(answer.payload) : undefined
}

/** The transcript has the whole text; the end of a run has only the last item. */
function mergeOutcomes(ended: RunOutcome, read: RunOutcome | undefined): RunOutcome {
  const both = ended.kind === 'done' && read?.kind === 'done'
  return both && read.text.trim().endsWith(ended.text.trim()) ? { ...ended, text: read.text } : ended
}

interface PollDeps {
  readonly connection: OpenClawConnection
  readonly plan: RunPlan
  readonly signal: AbortSignal
  /** After a restart the gateway resumes interrupted turns within seconds; a session that is idle this long is not resumed. */
  readonly idleMs: number
  readonly everyMs: number
}

/** Polls for the end of a running run that the gateway does not announce. Rejects when the connection breaks. */
export async function waitForEnd({ connection, plan, signal }: PollDeps): Promise<RunOutcome> {
  for (;;) {
    signal.throwIfAborted()
    const ended = await queryRunEnd(connection, plan.key, 20_000)
    if (ended !== undefined)
      return mergeOutcomes(ended, (await readTranscript(connection, plan.sessionKey, plan.key)).outcome)
  }
}

/**
 * Waits for the end of a turn that runs under another id, or is about to. Undefined if the gateway never received the
 * message: it stores each message before it does anything else with it.
 */
export async function waitForSession(deps: PollDeps): Promise<RunOutcome | undefined> {
  const { connection, plan, signal, idleMs, everyMs } = deps
  let activeAt = performance.now()
  for (;;) {
    signal.throwIfAborted()
    const seen = await readTranscript(connection, plan.sessionKey, plan.key)
    const idle = performance.now() - activeAt
    if (seen.isActive) activeAt = performance.now()
    else if (seen.outcome !== undefined) return seen.outcome
    else if (!seen.isKnown && idle > idleMs / 3) return undefined
    else if (idle > idleMs) return lostAfterRestart
    await abortableSleep(everyMs, signal)
  }
}

const lostAfterRestart: RunOutcome = {
  kind: 'failed',
  said: 'The OpenClaw gateway was restarted, and the task was lost there',
  cause: 'the session is idle and contains no answer',
}

export function isConnectionLost(reason: unknown): boolean {
  return reason instanceof A2AError && (reason.code === 'INTERRUPTED' || reason.code === 'TIMEOUT')
}
