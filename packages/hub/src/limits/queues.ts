/** The queues of all agents that work on so many turns at one time, by name: for whoever wants to know how long they are. */
import type { Agent } from '@parley/a2a'
import type { AgentLimits } from '../config/limits.ts'
import { limitConcurrency } from './concurrency.ts'
import type { FairQueue } from './fair-queue.ts'

export interface Queues {
  /** The agent behind its limits, if it has any. */
  limit(agent: Agent, limits: AgentLimits, name: string): Agent
  lengths(): readonly { readonly agent: string; readonly waiting: number; readonly inside: number }[]
}

export function createQueues(): Queues {
  const queues = new Map<string, Pick<FairQueue, 'waiting' | 'inside'>>()
  return {
    limit(agent, { concurrent, queue, queueTimeout: queueTimeoutMs }, name) {
      queues.delete(name)
      if (concurrent === undefined) return agent
      return limitConcurrency(agent, {
        concurrent,
        queue,
        queueTimeoutMs,
        opened: (made) => void queues.set(name, made),
      })
    },
    lengths: () => [...queues].map(([agent, { waiting, inside }]) => ({ agent, waiting, inside })),
  }
}
