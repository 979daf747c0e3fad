/** Asks the gateway for the end of a run that it does not tell us of by itself. */
import { A2AError } from '@parley/a2a'
import type { Outcome } from './ending.ts'
import type { Line } from './line.ts'
import type { Plan } from './plan.ts'
import { askForEnd, fuller, pause } from './standing.ts'
import { readTranscript } from './transcript.ts'

export interface PollParts {
  readonly line: Line
  readonly plan: Plan
  readonly signal: AbortSignal
  /** After its restart a gateway takes interrupted turns up by itself, within seconds; one idle for so long does not. */
  readonly idleMs: number
  readonly everyMs: number
}

/** The end of a run that was found under way. Rejects when the connection breaks. */
export async function waitForEnd({ line, plan, signal }: PollParts): Promise<Outcome> {
  for (;;) {
    signal.throwIfAborted()
    const ended = await askForEnd(line, plan.key, 20_000)
    if (ended !== undefined) return fuller(ended, (await readTranscript(line, plan.sessionKey, plan.key)).outcome)
  }
}

/**
 * The end of a turn that runs under another id, or is going to. Nothing if the gateway never had the message: it writes it
 * down before it does anything else with it.
 */
export async function waitForSession(parts: PollParts): Promise<Outcome | undefined> {
  const { line, plan, signal, idleMs, everyMs } = parts
  let activeAt = performance.now()
  for (;;) {
    signal.throwIfAborted()
    const seen = await readTranscript(line, plan.sessionKey, plan.key)
    const idle = performance.now() - activeAt
    if (seen.isActive) activeAt = performance.now()
    else if (seen.outcome !== undefined) return seen.outcome
    else if (!seen.isKnown && idle > idleMs / 3) return undefined
    else if (idle > idleMs) return notTakenUp
    await pause(everyMs, signal)
  }
}

const notTakenUp: Outcome = {
  kind: 'failed',
  said: 'The OpenClaw gateway was restarted, and the task was lost there',
  cause: 'the session is idle and holds no answer',
}

export function isBrokenOff(reason: unknown): boolean {
  return reason instanceof A2AError && (reason.code === 'INTERRUPTED' || reason.code === 'TIMEOUT')
}
