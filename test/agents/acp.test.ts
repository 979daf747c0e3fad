/** An agent on the SDK of the Agent Client Protocol keeps the agent contract, through the hub's side of it. */
import { join } from 'node:path'
import { memoryKeyValueStore } from '@parley/a2a/stores'
import type { AgentHarness } from '../../packages/a2a/src/testing/agent-contract.ts'
import { type AgentUnderTest, agentContract } from '@parley/a2a/testing'
import { acpKind } from '../../packages/hub/src/agents/acp/index.ts'
import { testAgentServices } from '../../packages/hub/src/agents/testing/test-agent-services.ts'
import type { SharedFolder } from './shared-folder.ts'
import { createSharedFolder } from './shared-folder.ts'

const program = join(import.meta.dirname, 'programs/acp-agent.ts')

interface Bench extends AgentUnderTest {
  readonly folder: SharedFolder
}

agentContract('an ACP agent', harness())

function harness(): AgentHarness<Bench> {
  return {
    async open() {
      const folder = createSharedFolder()
      const entry = acpKind.schema.parse({
        command: [process.execPath, program],
        env: { BENCH: folder.path },
        killGrace: '2s',
      })
      const kv = memoryKeyValueStore()
      const open = async () => acpKind.open(entry, testAgentServices({ baseDir: folder.path, kv }))
      const opened = [await open()]
      // Loading the SDK takes time that this test does not measure.
      await opened[0]!.fetchCard?.(AbortSignal.timeout(120_000))
      return {
        folder,
        agent: opened[0]!.agent,
        async reopen() {
          // Its pipes are closed, so the program exits.
          await opened.at(-1)?.close?.()
          const next = await open()
          opened.push(next)
          return next.agent
        },
        async close() {
          await Promise.all(opened.map(async ({ close }) => close?.()))
          folder.remove()
        },
      }
    },
    chat: { text: 'say hello', answer: /^you said hello\.$/, pieces: 3 },
    each: (word) => ({ text: `say ${word}`, answer: new RegExp(`^you said ${word}\\.$`) }),
    long: {
      text: 'long',
      begun: ({ folder }) => folder.waitForFile('begun'),
      stopped: ({ folder }) => folder.waitForFile('stopped'),
    },
    failing: { text: 'fail', shown: 'The agent could not answer', hidden: 'host-7' },
    memory: { tell: 'remember swordfish', ask: 'recall', expects: 'swordfish' },
    question: { text: 'ask', asks: /permission: Delete everything/, answer: '1', then: /^chose yes$/ },
    resume: 'reattach',
    deadlineMs: 2_000,
    slow: {
      text: 'slow',
      answer: /^one two three$/,
      begun: ({ folder }) => folder.waitForFile('begun'),
      release: ({ folder }) => folder.createFile('released'),
    },
  }
}
