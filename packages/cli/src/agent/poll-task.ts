/** Polls a task until the agent's turn is over, for `task get --wait` and for a stream that cannot be resumed. */
import { A2AError, type Task } from '@parley/a2a'
import { hasSettled } from '@parley/a2a/internal'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Output } from '../output/output.ts'
import type { AgentConnection } from './connection.ts'

export interface PollOptions {
  readonly historyLength?: number
  readonly signal: AbortSignal
  readonly output: Output
  /** Whether the agent has answered in this run, so that it may be unreachable for a while. Default false. */
  readonly hasAnswered?: boolean
}

/** How long an agent that has answered may be unreachable: enough for a restart. */
const outageMs = 60_000

/**
 * The intervals are those of `--poll-interval`, and grow to four times as long. The client retries single failures. UNSPECIFIED is a
 * state like WORKING.
 */
export async function pollTask(connection: AgentConnection, id: string, options: PollOptions): Promise<Task> {
  const { signal, output, hasAnswered = false, ...request } = options
  const { firstPollMs = 2_000, pollMs } = connection.agent.session.limits
  let state = ''
  let answeredAt = hasAnswered ? performance.now() : -Infinity
  for (let waitMs = firstPollMs; ; waitMs = Math.min(pollMs, waitMs * 2)) {
    try {
      const task = await connection.getTask(id, { ...request, signal })
      answeredAt = performance.now()
      if (hasSettled(task.status.state)) return task
      if (task.status.state !== state) output.note(`State: ${task.status.state}`)
      state = task.status.state
    } catch (reason) {
      if (!isOutage(reason) || performance.now() - answeredAt > outageMs) throw reason
      output.debug(`the agent is unreachable, trying again: ${(reason as Error).message}`)
    }
    await sleep(waitMs, undefined, { signal }).catch((reason: unknown) => {
      throw signal.aborted ? signal.reason : reason
    })
  }
}

function isOutage(reason: unknown): boolean {
  return reason instanceof A2AError && (reason.code === 'UNAVAILABLE' || reason.code === 'INTERRUPTED')
}
