/** The end of a turn whose agent threw. */
import { A2AError } from '../model/error.ts'
import type { EngineLog } from './contract.ts'
import type { Live } from './live.ts'
import { agentMessage, describe } from './report.ts'
import type { Ending } from './steps.ts'

/** Whether the agent chose the error itself: its message and code are for the caller. */
export function isProtocolError(reason: unknown): reason is A2AError {
  return reason instanceof A2AError && reason.code !== 'INTERNAL'
}

/** `signal` is the one that the agent was given to stop by. */
export function failedTurn(reason: unknown, live: Live, signal: AbortSignal, log: EngineLog): Ending {
  // An agent that stops when its signal aborts has not failed, but it can only stop by throwing.
  const isAbort = reason === signal.reason || (reason instanceof Error && reason.name === 'AbortError')
  if (signal.aborted && isAbort) log.debug('agent stopped', { cause: reason })
  else log.error('agent failed', { cause: reason })
  const note = describe(reason)
  if (!isProtocolError(reason)) {
    return { state: 'TASK_STATE_FAILED', message: agentMessage('The agent failed', live.fold), note }
  }
  // Calling programs need to distinguish an agent that is down from one that refuses.
  const metadata = { reason: reason.details.reason ?? reason.code }
  return { state: 'TASK_STATE_FAILED', message: agentMessage(reason.message, live.fold), metadata, note }
}
