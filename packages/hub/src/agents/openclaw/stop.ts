/** Stops a run at the gateway when its task was canceled or took too long; when only this hub goes down it runs on. */
import { A2AError } from '@parley/a2a'
import type { AgentLog } from '@parley/a2a'
import type { Gateway } from './gateway.ts'
import { isBrokenOff } from './poll.ts'
import { pause } from './standing.ts'

export interface StopParts {
  readonly gateway: Gateway
  readonly sessionKey: string
  readonly runId: () => string
  readonly isOver: () => boolean
  readonly log: AgentLog
}

/** How long the gateway may be away before the run is left to itself. */
const patienceMs = 30_000
/** A run that was only just sent may not be known yet. */
const tries = 10
const betweenMs = 300

export function isToStop(reason: unknown): boolean {
  return reason instanceof A2AError && (reason.code === 'UNSUPPORTED_OPERATION' || reason.code === 'TIMEOUT')
}

export async function stopRun(parts: StopParts): Promise<void> {
  const signal = AbortSignal.timeout(patienceMs)
  try {
    for (let attempt = 1; attempt <= tries && !parts.isOver(); attempt += 1) {
      if (await isStopped(parts, signal)) return
      await pause(betweenMs, signal)
    }
  } catch (cause) {
    const isClosed = cause instanceof A2AError && cause.code === 'UNAVAILABLE'
    const level = isClosed ? 'debug' : 'warn'
    parts.log[level]('a run could not be stopped at the OpenClaw gateway', { cause })
  }
}

async function isStopped({ gateway, sessionKey, runId, log }: StopParts, signal: AbortSignal): Promise<boolean> {
  const line = await gateway.nextLine(signal)
  try {
    const answer = await line.request('chat.abort', { sessionKey, runId: runId() })
    if (!answer.ok) log.warn('the OpenClaw gateway does not stop a run', { ...answer.error })
    return !answer.ok || answer.payload['aborted'] === true
  } catch (reason) {
    if (isBrokenOff(reason)) return false
    throw reason
  }
}
