/** Polls the gateway for the end of a run whose end it does not announce. */
import { A2AError } from '@parley/a2a'
import type { RunOutcome } from './run-outcome.ts'
import type { OpenClawConnection } from './gateway/connection.ts'
import type { RunPlan } from './run-plan.ts'
import { abortableSleep } from '../timeouts.ts'
import { queryRunEnd, mergeOutcomes } from './run-status.ts'
import { readTranscript } from './transcript.ts'

export interface PollDeps {
  readonly connection: OpenClawConnection
  readonly plan: RunPlan
  readonly signal: AbortSignal
  /** After a restart the gateway resumes interrupted turns within seconds; a session that is idle this long is not resumed. */
  readonly idleMs: number
  readonly everyMs: number
}

/** Waits for the end of a running run. Rejects when the connection breaks. */
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
