/** The other agents of a hub, for tests: each with its own tasks, kept for the lifetime of the client. */
import { isTerminal, type Agent, type AgentCard, type StreamEvent, type Task } from '@parley/a2a'
import { omitUndefined } from '@parley/a2a/internal'
import { testAgent, type TestAgent } from '@parley/a2a/testing'
import type { InProcessClient, InProcessCall } from '../kind.ts'

export interface TestInProcessClient extends InProcessClient {
  /** All calls, in order. */
  readonly calls: readonly InProcessCall[]
  /** Names of agents that no caller may see. */
  readonly hidden: Set<string>
  agent(name: string): TestAgent
  close(): Promise<void>
}

export function testInProcessClient(agents: Readonly<Record<string, Agent>>): TestInProcessClient {
  const testAgents = new Map(Object.entries(agents).map(([name, agent]) => [name, testAgent(agent)]))
  const calls: InProcessCall[] = []
  const hidden = new Set<string>()
  const testAgentOf = (name: string): TestAgent => {
    const found = testAgents.get(name)
    if (found === undefined) throw new Error(`there is no ${name} here`)
    return found
  }
  return {
    calls,
    hidden,
    agent: testAgentOf,
    card: async (name) => (testAgents.has(name) && !hidden.has(name) ? cardOf(name) : undefined),
    async agents() {
      const seen = [...testAgents.keys()].filter((name) => !hidden.has(name))
      return seen.map((name) => ({ name, card: cardOf(name) }))
    },
    stream(call) {
      calls.push(call)
      const { agent, message, messageId, taskId, contextId, turn } = call
      const messageIds = {
        ...omitUndefined({ messageId, taskId, contextId }),
        referenceTaskIds: [turn.task.id],
      }
      const request = { ...message, ...messageIds }
      return taskId === undefined
        ? opened(testAgentOf(agent), request, turn.signal)
        : testAgentOf(agent).stream(request, { signal: turn.signal })
    },
    async *subscribe(agent, taskId) {
      const task = await testAgentOf(agent).get(taskId)
      if (isTerminal(task.status.state)) yield { task }
      else yield* testAgentOf(agent).subscribe(taskId)
    },
    task: (agent, taskId) => testAgentOf(agent).get(taskId),
    hopTokenFor: async () => undefined,
    cancel: (agent, taskId): Promise<Task> => testAgentOf(agent).cancel(taskId),
    async close() {
      for (const one of testAgents.values()) await one.close()
    },
  }
}

/** As the hub calls its own agents: a task exists at once, even for an answer without one. */
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
