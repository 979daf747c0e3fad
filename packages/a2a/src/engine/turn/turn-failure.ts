/** The end of a turn whose agent threw. */
import { wireCodeOf } from '../../model/error-table.ts'
import { A2AError } from '../../model/error.ts'
import type { EngineLog } from '../contract.ts'
import type { LoadedTask } from '../task/loaded-task.ts'
import type { TurnEnding } from '../task/task-intents.ts'
import { describeError, toAgentMessage } from './report-interpreter.ts'

/** Whether the agent threw the error deliberately: its message and code are for the caller. */
export function isProtocolError(reason: unknown): reason is A2AError {
  return reason instanceof A2AError && reason.code !== 'INTERNAL'
}

/** `signal` is the stop signal that the agent received. */
export function endingOfError(reason: unknown, loaded: LoadedTask, signal: AbortSignal, log: EngineLog): TurnEnding {
  // An agent that stops when its signal aborts has not failed, but it can stop only by throwing.
  const hasStopped =
    signal.aborted && (reason === signal.reason || (reason instanceof Error && reason.name === 'AbortError'))
  if (hasStopped) log.debug('agent stopped', { cause: reason })
  else log.error('agent failed', { cause: reason })
  // A canceled task would show the AbortError as the reason why it has no result.
  const isCanceled = signal.reason instanceof A2AError && signal.reason.code === 'CANCELED'
  const note = hasStopped && isCanceled ? {} : { note: describeError(reason) }
  if (!isProtocolError(reason)) {
    return { state: 'TASK_STATE_FAILED', message: toAgentMessage('The agent failed', loaded.fold), ...note }
  }
  // Calling programs need to distinguish an unavailable agent from one that refuses.
  const metadata = { reason: reason.details.reason ?? wireCodeOf(reason.code) }
  return { state: 'TASK_STATE_FAILED', message: toAgentMessage(reason.message, loaded.fold), metadata, ...note }
}
