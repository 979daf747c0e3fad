/** Polls a task until the agent's turn is over, for `task get --wait` and for a stream that cannot be resumed. */
import { hasSettled } from '@parley/a2a'
import type { Task } from '@parley/a2a'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Output } from '../output/output.ts'
import type { AgentConnection } from './connection.ts'

export interface PollOptions {
  readonly historyLength?: number
  readonly signal: AbortSignal
  readonly output: Output
}

/**
 * The intervals are those of `--poll-interval`, and grow to four times as long. The client retries single failures. UNSPECIFIED is a
 * state like WORKING.
 */
export async function pollTask(connection: AgentConnection, id: string, options: PollOptions): Promise<Task> {
  const { signal, output, ...request } = options
  const { firstPollMs = 2_000, pollMs } = connection.agent.session.limits
  let state = ''
  for (let waitMs = firstPollMs; ; waitMs = Math.min(pollMs, waitMs * 2)) {
    const task = await connection.getTask(id, { ...request, signal })
    if (hasSettled(task.status.state)) return task
    if (task.status.state !== state) output.note(`State: ${task.status.state}`)
    state = task.status.state
    await sleep(waitMs, undefined, { signal }).catch((reason: unknown) => {
      throw signal.aborted ? signal.reason : reason
    })
  }
}
