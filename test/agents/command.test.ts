/** The kind `command` keeps the agent contract in every run mode and protocol. */
import { join } from 'node:path'
import { memoryKeyValueStore } from '@parley/a2a/stores'
import type { AgentHarness } from '../../packages/a2a/src/testing/agent-contract.ts'
import { type AgentUnderTest, agentContract } from '@parley/a2a/testing'
import { commandKind } from '../../packages/hub/src/agents/command/index.ts'
import { testAgentServices } from '../../packages/hub/src/agents/testing/test-agent-services.ts'
import type { SharedFolder } from './shared-folder.ts'
import { createSharedFolder } from './shared-folder.ts'

const program = join(import.meta.dirname, 'programs/scripted-program.ts')

interface Bench extends AgentUnderTest {
  readonly folder: SharedFolder
}

interface Way {
  readonly mode: 'turn' | 'keep'
  readonly protocol: 'text' | 'jsonl'
  readonly resume: 'fail' | 'rerun'
}

function harness({ mode, protocol, resume }: Way): AgentHarness<Bench> {
  return {
    async open() {
      const folder = createSharedFolder()
      const entry = commandKind.schema.parse({
        command: [process.execPath, program, mode],
        mode,
        protocol,
        resume,
        processes: 4,
        killGrace: '2s',
        env: { BENCH: folder.path, PROTOCOL: protocol },
      })
      const kv = memoryKeyValueStore()
      const opened = [await commandKind.open(entry, testAgentServices({ baseDir: folder.path, kv }))]
      const last = () => opened.at(-1)!.agent
      return {
        folder,
        agent: last(),
        async reopen() {
          opened.push(await commandKind.open(entry, testAgentServices({ baseDir: folder.path, kv })))
          return last()
        },
        async close() {
          await Promise.all(opened.map(async ({ close }) => close?.()))
          folder.remove()
        },
      }
    },
    // A persistent program with plain text output writes line by line.
    chat: { text: 'say hello', answer: /^you said hello\.$/, pieces: mode === 'keep' && protocol === 'text' ? 1 : 3 },
    each: (word) => ({ text: `say ${word}`, answer: new RegExp(`^you said ${word}\\.$`) }),
    long: {
      text: 'long',
      begun: ({ folder }) => folder.waitForFile('begun'),
      stopped: ({ folder }) => folder.waitForFile('stopped'),
    },
    failing: { text: 'fail', shown: 'The program ended with exit code 3', hidden: 'host-7' },
    memory: { tell: 'remember swordfish', ask: 'recall', expects: 'swordfish', lasts: mode === 'turn' },
    ...(protocol === 'jsonl'
      ? { question: { text: 'ask', asks: /^Which city\?$/, answer: 'Paris', then: /^Paris it is$/ } }
      : {}),
    resume,
    deadlineMs: 2_500,
    slow: {
      text: 'slow',
      answer: /^one two three$/,
      begun: ({ folder }) => folder.waitForFile('begun'),
      release: ({ folder }) => folder.createFile('released'),
    },
  }
}

agentContract('a program for each turn, in JSON lines,', harness({ mode: 'turn', protocol: 'jsonl', resume: 'rerun' }))
agentContract(
  'a program for each turn, in plain text, [full]',
  harness({ mode: 'turn', protocol: 'text', resume: 'fail' }),
)
agentContract(
  'a program that is kept, in JSON lines, [full]',
  harness({ mode: 'keep', protocol: 'jsonl', resume: 'rerun' }),
)
agentContract(
  'a program that is kept, in plain text, [full]',
  harness({ mode: 'keep', protocol: 'text', resume: 'fail' }),
)
