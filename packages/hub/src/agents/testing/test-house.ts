/** The other agents of a hub, for tests: each with tasks of its own, kept as long as the house stands. */
import { isTerminal } from '@parley/a2a'
import type { Agent, AgentCard, StreamEvent, Task } from '@parley/a2a'
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
    async agents() {
      const seen = [...residents.keys()].filter((name) => !hidden.has(name))
      return seen.map((name) => ({ name, card: cardOf(name) }))
    },
    stream(call) {
      calls.push(call)
      const { agent, message, messageId, taskId, contextId, turn } = call
      const place = {
        ...(messageId !== undefined ? { messageId } : {}),
        ...(taskId !== undefined ? { taskId } : {}),
        ...(contextId !== undefined ? { contextId } : {}),
        referenceTaskIds: [turn.task.id],
      }
      const request = { ...message, ...place }
      return taskId === undefined
        ? opened(resident(agent), request, turn.signal)
        : resident(agent).stream(request, { signal: turn.signal })
    },
    async *subscribe(agent, taskId) {
      const task = await resident(agent).get(taskId)
      if (isTerminal(task.status.state)) yield { task }
      else yield* resident(agent).subscribe(taskId)
    },
    task: (agent, taskId) => resident(agent).get(taskId),
    onward: async () => undefined,
    cancel: (agent, taskId): Promise<Task> => resident(agent).cancel(taskId),
    async close() {
      for (const one of residents.values()) await one.close()
    },
  }
}

/** As the hub calls its own agents: there is a task at once, also for an answer that needs none. */
async function* opened(
  agent: TestAgent,
  message: Parameters<TestAgent['send']>[0],
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  const answer = await agent.send(message, { returnImmediately: true })
  if (!('status' in answer)) yield { message: answer }
  else {
    yield { task: answer }
    yield* agent.subscribe(answer.id, { lastEventId: '0', signal })
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
