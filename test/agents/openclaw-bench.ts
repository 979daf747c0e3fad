/** An agent of the kind `openclaw` over a gateway, fake or real, as the agent contract and other tests want it. */
import { memoryNotes } from '@parley/a2a'
import type { Agent, AgentLog, Notes } from '@parley/a2a'
import type { AgentBench, AgentHarness } from '@parley/a2a/testing'
import type { OpenAgent } from '../../packages/hub/src/agents/kind.ts'
import { openclawKind, openOpenclaw } from '../../packages/hub/src/agents/openclaw/index.ts'
import type { Times } from '../../packages/hub/src/agents/openclaw/run.ts'
import { testParts } from '../../packages/hub/src/agents/testing/kind-parts.ts'
import type { LoggedLine } from '../../packages/hub/src/agents/testing/kind-parts.ts'
import type { Mind } from './openclaw-gateway/mind.ts'

/** Where a gateway is, and what is behind it. */
export interface GatewayPlace {
  readonly url: string
  readonly token: string
  readonly mind: Mind
}

export interface OpenclawBench extends AgentBench {
  readonly open: OpenAgent
  readonly notes: Notes
  readonly mind: Mind
  readonly lines: readonly LoggedLine[]
  /** Adds one, for logs of others. */
  readonly warn: AgentLog['warn']
}

/** `process`es after each other have the same notes, and nothing else in common. */
export function openBench(
  place: GatewayPlace,
  entry: object = {},
  notes: Notes = memoryNotes(),
  times: Times = { idleMs: 300, everyMs: 50 },
): OpenclawBench {
  const opened: OpenAgent[] = []
  const parts = testParts({ name: 'bot', guardedFetch: fetch })
  const { url, token, mind } = place
  const begin = (): OpenAgent => {
    const read = openclawKind.schema.parse({ url, token, ...entry })
    const open = openOpenclaw(read, { ...parts, notes: { ...notes } }, times)
    opened.push(open)
    return open
  }
  const open = begin()
  return {
    open,
    agent: open.agent,
    notes,
    mind,
    lines: parts.lines,
    warn: parts.log.warn,
    reopen: (): Agent => begin().agent,
    close: async () => {
      for (const one of opened) await one.close?.()
    },
  }
}

type Harness = AgentHarness<OpenclawBench>

/** What the mind understands, as the contract asks for it. */
export const exchanges = {
  chat: { text: 'count to 5', answer: /^1 2 3 4 5$/, pieces: 2 },
  each: (word) => ({ text: `say ${word}`, answer: `You said ${word}` }),
  long: {
    text: 'work for ever',
    begun: ({ mind }) => mind.begun(),
    stopped: ({ mind }) => mind.stopped(),
  },
  failing: { text: 'fail now', shown: /^The agent/, hidden: 'sk-123' },
  memory: { tell: 'remember tangerine', ask: 'what was it?', expects: 'tangerine' },
  resume: 'reattach',
  slow: {
    text: 'take your time',
    answer: /^one two three$/,
    begun: ({ mind }) => mind.begun(),
    release: ({ mind }) => mind.release(),
  },
} satisfies Omit<Harness, 'open'>
