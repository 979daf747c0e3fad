/** The other agents of a hub, for tests: each with tasks of its own, kept as long as the house stands. */
import type { Agent, AgentCard, Task } from '@parley/a2a'
import { testAgent } from '@parley/a2a/testing'
import type { TestAgent } from '@parley/a2a/testing'
import type { House, HouseCall } from '../kind.ts'

export interface TestHouse extends House {
  /** What was asked of them, in order. */
  readonly calls: readonly HouseCall[]
  /** Who of them nobody may see. */
  readonly hidden: Set<string>
  agent(name: string): TestAgent
  close(): Promise<void>
}

export function testHouse(agents: Readonly<Record<string, Agent>>): TestHouse {
  const residents = new Map(Object.entries(agents).map(([name, agent]) => [name, testAgent(agent)]))
  const calls: HouseCall[] = []
  const hidden = new Set<string>()
  const resident = (name: string): TestAgent => {
    const found = residents.get(name)
    if (found === undefined) throw new Error(`there is no ${name} here`)
    return found
  }
  return {
    calls,
    hidden,
    agent: resident,
    card: async (name) => (residents.has(name) && !hidden.has(name) ? cardOf(name) : undefined),
    stream(call) {
      calls.push(call)
      const { agent, message, taskId, contextId, turn } = call
      const place = { ...(taskId !== undefined ? { taskId } : {}), ...(contextId !== undefined ? { contextId } : {}) }
      return resident(agent).stream({ ...message, ...place }, { signal: turn.signal })
    },
    cancel: (agent, taskId): Promise<Task> => resident(agent).cancel(taskId),
    async close() {
      for (const one of residents.values()) await one.close()
    },
  }
}

function cardOf(name: string): AgentCard {
  return {
    name,
    description: `The agent ${name}`,
    version: '1',
    supportedInterfaces: [],
    capabilities: {},
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
  }
}
