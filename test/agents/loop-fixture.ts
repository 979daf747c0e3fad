/** A loop over a scripted model, opened as the hub opens it. */
import type { TestContext } from 'node:test'
import { testAgent } from '@parley/a2a/testing'
import type { TestAgent, TestAgentOptions } from '@parley/a2a/testing'
import type { AgentServices, OpenAgent } from '../../packages/hub/src/agents/kind.ts'
import { loopKind } from '../../packages/hub/src/agents/loop/index.ts'
import { openaiKind } from '../../packages/hub/src/agents/openai/index.ts'
import { testAgentServices } from '../../packages/hub/src/agents/testing/test-agent-services.ts'
import { scriptedModel } from '../../packages/hub/src/agents/testing/scripted-model.ts'
import type { Script, ScriptedModel, SeenBody } from '../../packages/hub/src/agents/testing/scripted-model.ts'

export interface LoopFixture {
  readonly model: ScriptedModel
  /** Opened again for each test, over the same model. */
  open(): Promise<OpenAgent>
  /** One under test, closed with it. */
  agent(options?: TestAgentOptions): Promise<TestAgent>
}

export async function createLoopFixture(
  t: TestContext,
  script: Script,
  tools: readonly object[],
  given: Partial<AgentServices> = {},
): Promise<LoopFixture> {
  const model = await scriptedModel(script)
  t.after(() => model.close())
  const entry = openaiKind.schema.parse({ baseUrl: model.url, model: 'scripted', retries: 0 })
  const gpt = await openaiKind.open(entry, testAgentServices())
  const parts = testAgentServices({ baseDir: import.meta.dirname, model: () => gpt.model, ...given })
  const open = async (): Promise<OpenAgent> => loopKind.open(loopKind.schema.parse({ model: 'gpt', tools }), parts)
  return {
    model,
    open,
    async agent(options = {}) {
      const opened = await open()
      const { extensions = [] } = opened
      const agent = testAgent(opened.agent, { extensions, ...options, server: { log: parts.log, ...options.server } })
      t.after(async () => {
        await agent.close()
        await opened.close?.()
      })
      return agent
    },
  }
}

export const toolResultsIn = ({ messages }: SeenBody): readonly string[] =>
  messages.flatMap(({ role, content }) => (role === 'tool' ? [String(content)] : []))

/** Calls these tools once, all together, and then answers with their results. */
export const scriptCallingOnce =
  (...calls: readonly { name: string; input?: unknown; id?: string }[]): Script =>
  ({ body }) => {
    const results = toolResultsIn(body)
    return results.length === 0
      ? { calls: calls.map(({ input = {}, ...call }) => ({ input, ...call })) }
      : { say: results.join(' | ') }
  }
