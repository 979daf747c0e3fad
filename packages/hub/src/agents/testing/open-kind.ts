/** Opens an agent of a kind from its entry for a test, collects its log, and closes it with the test. */
import type { TestContext } from 'node:test'
import { testAgent, type TestAgent, type TestAgentOptions } from '@parley/a2a/testing'
import type { AgentKind, AgentServices, OpenAgent } from '../kind.ts'
import { testAgentServices, type LoggedLine } from './test-agent-services.ts'

export interface OpenedKind {
  readonly opened: OpenAgent
  readonly agent: TestAgent
  readonly lines: readonly LoggedLine[]
}

export interface OpenKindOptions {
  readonly services?: Partial<AgentServices>
  readonly test?: TestAgentOptions
}

export async function openKind<Entry>(
  t: TestContext,
  kind: AgentKind<Entry>,
  entry: unknown,
  { services: parts, test }: OpenKindOptions = {},
): Promise<OpenedKind> {
  const services = testAgentServices(parts)
  const opened = await kind.open(kind.schema.parse(entry), services)
  // Turns log to the same place as the agent.
  const agent = testAgent(opened.agent, { ...test, server: { log: services.log, ...test?.server } })
  t.after(async () => {
    await agent.close()
    await opened.close?.()
  })
  return { opened, agent, lines: services.lines }
}
