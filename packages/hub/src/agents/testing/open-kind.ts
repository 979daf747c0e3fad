/** An agent of a kind from its entry, under test: with what it logged, and closed with the test. */
import type { TestContext } from 'node:test'
import { testAgent } from '@parley/a2a/testing'
import type { TestAgent, TestAgentOptions } from '@parley/a2a/testing'
import type { AgentKind, KindParts, OpenAgent } from '../kind.ts'
import { testParts } from './kind-parts.ts'
import type { LoggedLine } from './kind-parts.ts'

export interface OpenedKind {
  readonly opened: OpenAgent
  readonly agent: TestAgent
  readonly lines: readonly LoggedLine[]
}

export interface OpenKindOptions {
  readonly parts?: Partial<KindParts>
  readonly test?: TestAgentOptions
}

export async function openKind<Entry>(
  t: TestContext,
  kind: AgentKind<Entry>,
  entry: unknown,
  { parts, test }: OpenKindOptions = {},
): Promise<OpenedKind> {
  const lent = testParts(parts)
  const opened = await kind.open(kind.schema.parse(entry), lent)
  // What a turn logs goes the same way as what the agent does.
  const agent = testAgent(opened.agent, { ...test, server: { log: lent.log, ...test?.server } })
  t.after(async () => {
    await agent.close()
    await opened.close?.()
  })
  return { opened, agent, lines: lent.lines }
}
