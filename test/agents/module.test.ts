/** A file that exports an agent keeps the agent contract, through the kind that opens it. */
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Agent } from '@parley/a2a'
import { agentContract } from '@parley/a2a/testing'
import type { AgentUnderTest } from '@parley/a2a/testing'
import { moduleKind } from '../../packages/hub/src/agents/module/index.ts'
import { testAgentServices } from '../../packages/hub/src/agents/testing/test-agent-services.ts'
import { openModuleProbe, type ModuleProbe } from './module-probe.ts'

interface Bench extends AgentUnderTest {
  readonly bench: ModuleProbe
}

/** Each bench has the file in its own folder, so that it is a separate module. */
async function open(): Promise<Bench> {
  const baseDir = await mkdtemp(join(tmpdir(), 'parley-module-'))
  await copyFile(join(import.meta.dirname, 'module-agent.ts'), join(baseDir, 'agent.ts'))
  const fixture = openModuleProbe(baseDir)
  const load = async (): Promise<Agent> => {
    const opened = await moduleKind.open(
      moduleKind.schema.parse({ path: './agent.ts' }),
      testAgentServices({ baseDir }),
    )
    return opened.agent
  }
  return {
    agent: await load(),
    bench: fixture,
    reopen: load,
    async close() {
      fixture.close()
      await rm(baseDir, { recursive: true })
    },
  }
}

agentContract('module', {
  open,
  chat: { text: 'chat sunshine', answer: 'you said sunshine.', pieces: 3 },
  each: (word) => ({ text: `chat ${word}`, answer: `you said ${word}.` }),
  long: {
    text: 'long',
    begun: ({ bench: fixture }) => fixture.started.promise,
    stopped: ({ bench: fixture }) => fixture.stopped.promise,
  },
  failing: { text: 'fail', shown: 'The agent failed', hidden: 'host-7.internal' },
  memory: { tell: 'remember 42', ask: 'recall', expects: '42' },
  question: { text: 'ask', asks: 'Which city?', answer: 'Rome', then: 'Rome it is' },
  resume: 'rerun',
  slow: {
    text: 'slow',
    answer: /^one two three$/,
    begun: ({ bench: fixture }) => fixture.started.promise,
    release: ({ bench: fixture }) => fixture.released.resolve(),
  },
})
