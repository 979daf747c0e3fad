/** The agent contract over the scripted server: as a program that speaks as of 2025, and as a server of 2026 over HTTP. */
import { join } from 'node:path'
import { createMcpHandler } from '@modelcontextprotocol/server'
import type { Agent } from '@parley/a2a'
import { agentContract } from '@parley/a2a/testing'
import type { AgentBench, AgentHarness } from '@parley/a2a/testing'
import type { OpenAgent } from '../../packages/hub/src/agents/kind.ts'
import { mcpKind } from '../../packages/hub/src/agents/mcp/index.ts'
import { testParts } from '../../packages/hub/src/agents/testing/kind-parts.ts'
import { benchFolder } from './bench-folder.ts'
import type { BenchFolder } from './bench-folder.ts'
import { serveWeb } from './mcp-http.ts'
import { scriptedServer } from './mcp-script.ts'

const program = join(import.meta.dirname, 'programs/mcp-server.ts')

/** What is the same wherever the server is. */
const usual = {
  chat: { text: 'say("hello there")', answer: /^hello there$/ },
  each: (word: string) => ({ text: `say text=${word}`, answer: word }),
  failing: { text: 'break()', shown: 'The tool server failed', hidden: 'host-17' },
  question: { text: 'book()', asks: 'Which city?', answer: 'Lisbon', then: /^A flight to Lisbon$/ },
} satisfies Partial<AgentHarness>

/** An agent over a server, opened as often as the contract wants. */
async function opened(entry: object): Promise<Pick<AgentBench, 'agent' | 'reopen' | 'close'>> {
  const all: OpenAgent[] = []
  const reopen = async (): Promise<Agent> => {
    const one = await mcpKind.open(mcpKind.schema.parse(entry), testParts())
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

interface FolderBench extends AgentBench {
  readonly folder: BenchFolder
}

agentContract<FolderBench>('mcp, a program', {
  ...usual,
  async open() {
    const folder = benchFolder()
    const bench = await opened({ command: [process.execPath, program, folder.path], cwd: import.meta.dirname })
    return {
      ...bench,
      folder,
      async close() {
        await bench.close()
        folder.remove()
      },
    }
  },
  memory: { tell: 'remember teal', ask: 'recall()', expects: 'teal', lasts: false },
  long: {
    text: 'wait()',
    begun: ({ folder }) => folder.appears('begun'),
    stopped: ({ folder }) => folder.appears('stopped'),
  },
  resume: 'fail',
  // Each conversation has a process of its own, which takes its time on a busy machine.
  deadlineMs: 5_000,
  patienceMs: 20_000,
})

interface HttpBench extends AgentBench {
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
    const desk = {
      tell: (what: string) => (what === 'begun' ? begun : stopped).resolve(),
      gate: () => gate.promise,
      die() {},
    }
    const handler = createMcpHandler(() => scriptedServer(desk))
    const place = await serveWeb((request) => handler.fetch(request))
    const bench = await opened({ url: place.url })
    return {
      ...bench,
      begun,
      stopped,
      gate,
      async close() {
        await bench.close()
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
