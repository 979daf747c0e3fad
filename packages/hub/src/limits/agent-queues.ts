/** The queues of all agents with a concurrency limit, by name; exposes their lengths. */
import type { Agent } from '@parley/a2a'
import type { AgentLimits } from '../config/sections/limits.ts'
import { limitConcurrency } from './limit-concurrency.ts'
import type { FairQueue } from './fair-queue.ts'

export interface AgentQueues {
  /** The agent behind its limits, if it has any. */
  limit(agent: Agent, limits: AgentLimits, name: string): Agent
  lengths(): readonly { readonly agent: string; readonly waiting: number; readonly running: number }[]
}

export function createAgentQueues(): AgentQueues {
  const queues = new Map<string, Pick<FairQueue, 'waiting' | 'running'>>()
  return {
    limit(agent, { concurrent, queue, queueTimeout: queueTimeoutMs }, name) {
      queues.delete(name)
      if (concurrent === undefined) return agent
      return limitConcurrency(agent, {
        concurrent,
        queue,
        queueTimeoutMs,
        onQueue: (made) => void queues.set(name, made),
      })
    },
    lengths: () => [...queues].map(([agent, { waiting, running }]) => ({ agent, waiting, running })),
  }
}
