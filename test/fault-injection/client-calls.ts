/** Every kind of client call, for faults that all of them must survive, and short limits. */
import type { ClientLimits, RemoteAgent } from '@parley/a2a/client'
import { taskId } from './sample-task.ts'

/** For a server that hangs after it has served its card. */
export const shortTimeouts: Partial<ClientLimits> = {
  timeoutMs: 150,
  answerTimeoutMs: 150,
  idleTimeoutMs: 100,
  attempts: 2,
}

/** For a server that hangs before that. */
export const shortCardTimeouts: Partial<ClientLimits> = { ...shortTimeouts, cardTimeoutMs: 150 }

export const calls: Readonly<Record<string, (agent: RemoteAgent, signal: AbortSignal) => Promise<unknown>>> = {
  send: (agent, signal) => agent.send('go', { signal }),
  get: (agent, signal) => agent.get(taskId, { signal }),
  cancel: (agent, signal) => agent.cancel(taskId, { signal }),
  stream: (agent, signal) => agent.stream('go', { signal }).all(),
  subscribe: (agent, signal) => agent.subscribe(taskId, { signal }).all(),
}
