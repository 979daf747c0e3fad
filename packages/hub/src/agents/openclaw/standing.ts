/** How a turn stands at the gateway: after it was sent, and after the connection or the process was lost. */
import { A2AError } from '@parley/a2a'
import type { AgentLog } from '@parley/a2a'
import { agentEnding, waitEnding } from './ending.ts'
import type { Outcome } from './ending.ts'
import type { Line } from './line.ts'
import type { Plan } from './plan.ts'
import { readTranscript } from './transcript.ts'
import type { Fields, Refusal } from './wire.ts'

export type Standing =
  /** Begun by this connection, which is told of its end. */
  | { readonly at: 'begun' }
  /** Under way, begun by another connection: its end has to be asked for. */
  | { readonly at: 'found'; readonly text?: string }
  /** Not under the id that we gave it: the gateway took it up after a restart, or queued it. Its session tells. */
  | { readonly at: 'session'; readonly streams: boolean }
  | { readonly at: 'end'; readonly outcome: Outcome }
  /** The gateway never got it. */
  | { readonly at: 'nowhere' }

export interface SendParts {
  readonly line: Line
  readonly plan: Plan
  readonly params: Fields
  readonly traceparent: string
  readonly onEnd: (outcome: Outcome) => void
  readonly signal: AbortSignal
  readonly log: AgentLog
}

/** So often a request that was refused only for now is made again. */
const attempts = 5
const acceptMs = 60_000

/** Asks the gateway to run the turn. */
export async function send(parts: SendParts): Promise<Standing> {
  const { line, plan, params, traceparent, onEnd, signal, log } = parts
  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted()
    const answer = await line.request(plan.method, params, {
      timeoutMs: acceptMs,
      traceparent,
      ...(plan.method === 'agent' ? { later: (later) => onEnd(agentEnding(later)) } : {}),
    })
    const { status } = answer.payload
    if (answer.ok && (status === 'accepted' || status === 'started')) return { at: 'begun' }
    if (answer.ok && status === 'in_flight') return { at: 'found' }
    // The gateway knew the key and says how its run ended.
    if (status !== undefined && plan.method === 'agent') return { at: 'end', outcome: agentEnding(answer) }
    if (answer.ok && status === 'ok') return { at: 'session', streams: false }
    const refusal = answer.ok ? undefined : answer.error
    if (refusal === undefined || !isForNow(refusal) || attempt === attempts) throw notTaken(refusal, log)
    await pause(refusal.retryAfterMs ?? 500 * attempt, signal)
  }
}

/** It says "Retry" in words, too, where a session is being taken up after a restart. */
function isForNow({ code, retryable, message }: Refusal): boolean {
  return code === 'UNAVAILABLE' && (retryable || /retry/i.test(message))
}

function notTaken(refusal: Refusal | undefined, log: AgentLog): A2AError {
  const { code, message } = refusal ?? { code: 'UNKNOWN', message: 'an answer without a status' }
  log.warn('the OpenClaw gateway refused a message', { code, message })
  const said =
    code === 'UNAVAILABLE'
      ? 'The OpenClaw gateway takes no messages now: try again later'
      : code === 'FORBIDDEN'
        ? 'The OpenClaw gateway does not let this hub do that: its operator has to look'
        : 'The OpenClaw gateway does not take this message'
  return new A2AError('AGENT_UNAVAILABLE', said, {}, { cause: new Error(`${code}: ${message}`) })
}

/**
 * What became of a turn, in the order that never runs it twice. A request that comes again under a known key is answered
 * from memory for five minutes after its run ended; later it would run again, and spoil what the transcript says. So it
 * is sent again only where nothing knows it, and never to a gateway that has started anew.
 */
export async function findOut(line: Line, plan: Plan): Promise<Standing> {
  const { key, sessionKey } = plan
  const isSameStart = line.hello.bootId === plan.bootId
  const ended = isSameStart ? await askForEnd(line, key, 1) : undefined
  const seen = await readTranscript(line, sessionKey, key)
  if (ended !== undefined) return { at: 'end', outcome: fuller(ended, seen.outcome) }
  if (seen.running?.runId === key) return { at: 'found', text: seen.running.text }
  if (seen.outcome !== undefined && !seen.isActive) return { at: 'end', outcome: seen.outcome }
  if (!isSameStart) return { at: 'session', streams: true }
  if (seen.isKnown) return seen.isActive ? { at: 'found' } : { at: 'session', streams: true }
  return { at: 'nowhere' }
}

/** The end of a run, if it comes within this time. */
export async function askForEnd(line: Line, runId: string, waitMs: number): Promise<Outcome | undefined> {
  const answer = await line.request('agent.wait', { runId, timeoutMs: waitMs }, { timeoutMs: waitMs + 15_000 })
  return answer.ok ? waitEnding(answer.payload) : undefined
}

/** The transcript has all that was said, the end of a run only what was said last. */
export function fuller(ended: Outcome, read: Outcome | undefined): Outcome {
  const both = ended.kind === 'done' && read?.kind === 'done'
  return both && read.text.trim().endsWith(ended.text.trim()) ? { ...ended, text: read.text } : ended
}

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort)
      resolve()
    }, ms)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}
