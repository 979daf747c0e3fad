/** Stops a run at the gateway when its task was canceled. A lost connection is awaited for a limited time. */
import { type AgentLog, A2AError } from '@parley/a2a'
import type { Gateway } from './gateway/gateway.ts'
import { isConnectionLost } from './run-status.ts'
import { abortableSleep } from '../timeouts.ts'

interface StopRunDeps {
  readonly gateway: Gateway
  readonly sessionKey: string
  readonly runId: () => string
  readonly isOver: () => boolean
  readonly log: AgentLog
}

/** How long to wait for a disconnected gateway before the run is left alone. */
const stopTimeoutMs = 30_000
/** The gateway may not know a run yet that was just sent. */
const maxAttempts = 10
const retryDelayMs = 300

export async function stopRun(deps: StopRunDeps): Promise<void> {
  const signal = AbortSignal.timeout(stopTimeoutMs)
  try {
    for (let attempt = 1; attempt <= maxAttempts && !deps.isOver(); attempt += 1) {
      if (await isStopped(deps, signal)) return
      await abortableSleep(retryDelayMs, signal)
    }
  } catch (cause) {
    const isClosed = cause instanceof A2AError && cause.code === 'UNAVAILABLE'
    const level = isClosed ? 'debug' : 'warn'
    deps.log[level]('a run could not be stopped at the OpenClaw gateway', { cause })
  }
}

async function isStopped({ gateway, sessionKey, runId, log }: StopRunDeps, signal: AbortSignal): Promise<boolean> {
  const connection = await gateway.nextConnection(signal)
  try {
    const answer = await connection.request('chat.abort', { sessionKey, runId: runId() })
    if (!answer.ok) log.warn('the OpenClaw gateway does not stop a run', { ...answer.error })
    return !answer.ok || answer.payload['aborted'] === true
  } catch (reason) {
    if (isConnectionLost(reason)) return false
    throw reason
  }
}
