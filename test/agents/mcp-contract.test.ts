/** The agent contract over the scripted server: as a program with the protocol of 2025, and as an HTTP server with that of 2026. */
import { join } from 'node:path'
import { createMcpHandler } from '@modelcontextprotocol/server'
import type { Agent } from '@parley/a2a'
import { agentContract, type AgentUnderTest } from '@parley/a2a/testing'
import type { AgentHarness } from '../../packages/a2a/src/testing/agent-contract.ts'
import type { OpenAgent } from '../../packages/hub/src/agents/kind.ts'
import { mcpKind } from '../../packages/hub/src/agents/mcp/index.ts'
import { testAgentServices } from '../../packages/hub/src/agents/testing/test-agent-services.ts'
import { createSharedFolder } from './shared-folder.ts'
import type { SharedFolder } from './shared-folder.ts'
import { serveFetchHandler } from './mcp-http.ts'
import { createScriptedMcpServer } from './scripted-mcp-server.ts'

const program = join(import.meta.dirname, 'programs/mcp-server.ts')

/** What both transports share. */
const usual = {
  chat: { text: 'say("hello there")', answer: /^hello there$/ },
  each: (word: string) => ({ text: `say text=${word}`, answer: word }),
  failing: { text: 'break()', shown: 'The tool server failed', hidden: 'host-17' },
  question: { text: 'book()', asks: 'Which city?', answer: 'Lisbon', then: /^A flight to Lisbon$/ },
} satisfies Partial<AgentHarness>

/** An agent over a server, opened as often as the contract requires. */
async function opened(entry: object): Promise<Pick<AgentUnderTest, 'agent' | 'reopen' | 'close'>> {
  const all: OpenAgent[] = []
  const reopen = async (): Promise<Agent> => {
    const one = await mcpKind.open(mcpKind.schema.parse(entry), testAgentServices())
    all.push(one)
    return one.agent
  }
  return {
    agent: await reopen(),
    reopen,
    async close() {
      for (const one of all) await one.close?.()
    },
  }
}

interface FolderBench extends AgentUnderTest {
  readonly folder: SharedFolder
}

agentContract<FolderBench>('mcp, a program [full]', {
  ...usual,
  async open() {
    const folder = createSharedFolder()
    const fixture = await opened({ command: [process.execPath, program, folder.path], cwd: import.meta.dirname })
    return {
      ...fixture,
      folder,
      async close() {
        await fixture.close()
        folder.remove()
      },
    }
  },
  memory: { tell: 'remember teal', ask: 'recall()', expects: 'teal', lasts: false },
  long: {
    text: 'wait()',
    begun: ({ folder }) => folder.waitForFile('begun'),
    stopped: ({ folder }) => folder.waitForFile('stopped'),
  },
  resume: 'fail',
  // Each conversation has its own process, which starts slowly on a busy machine.
  deadlineMs: 5_000,
})

interface HttpBench extends AgentUnderTest {
  readonly begun: PromiseWithResolvers<void>
  readonly stopped: PromiseWithResolvers<void>
  readonly gate: PromiseWithResolvers<void>
}

agentContract<HttpBench>('mcp, an address', {
  ...usual,
  async open() {
    const [begun, stopped, gate] = [0, 1, 2].map(() => Promise.withResolvers<void>()) as [
      PromiseWithResolvers<void>,
      PromiseWithResolvers<void>,
      PromiseWithResolvers<void>,
    ]
    const controls = {
      report: (what: string) => (what === 'begun' ? begun : stopped).resolve(),
      waitForRelease: () => gate.promise,
      crash() {},
    }
    const handler = createMcpHandler(() => createScriptedMcpServer(controls))
    const place = await serveFetchHandler((request) => handler.fetch(request))
    const fixture = await opened({ url: place.url })
    return {
      ...fixture,
      begun,
      stopped,
      gate,
      async close() {
        await fixture.close()
        await handler.close()
        await place.close()
      },
    }
  },
  long: { text: 'wait()', begun: ({ begun }) => begun.promise, stopped: ({ stopped }) => stopped.promise },
  resume: 'rerun',
  slow: {
    text: 'wait_safely()',
    answer: /^the gate is open$/,
    begun: ({ begun }) => begun.promise,
    release: ({ gate }) => gate.resolve(),
  },
})
