/** An agent of the kind `openclaw` over a gateway, fake or real, for the agent contract and other tests. */
import { memoryKeyValueStore, type KeyValueStore } from '@parley/a2a/stores'
import type { Agent, AgentLog } from '@parley/a2a'
import type { AgentHarness } from '../../packages/a2a/src/testing/agent-contract.ts'
import type { AgentUnderTest } from '@parley/a2a/testing'
import type { OpenAgent } from '../../packages/hub/src/agents/kind.ts'
import { openClawKind } from '../../packages/hub/src/agents/openclaw/index.ts'
import { openOpenClaw } from '../../packages/hub/src/agents/openclaw/open-agent.ts'
import type { OpenClawTimes } from '../../packages/hub/src/agents/openclaw/run.ts'
import { testAgentServices } from '../../packages/hub/src/agents/testing/test-agent-services.ts'
import type { LoggedLine } from '../../packages/hub/src/agents/testing/test-agent-services.ts'
import type { ScriptedResponder } from './openclaw-gateway/scripted-responder.ts'

/** Where a gateway is, and what is behind it. */
export interface GatewayTarget {
  readonly url: string
  readonly token: string
  readonly responder: ScriptedResponder
}

export interface OpenclawFixture extends AgentUnderTest {
  readonly open: OpenAgent
  readonly kv: KeyValueStore
  readonly responder: ScriptedResponder
  readonly lines: readonly LoggedLine[]
  /** Adds one, for logs of others. */
  readonly warn: AgentLog['warn']
}

/** Successive `process`es share the key-value data and nothing else. */
export function openOpenclawFixture(
  place: GatewayTarget,
  entry: object = {},
  kv: KeyValueStore = memoryKeyValueStore(),
  times: OpenClawTimes = { idleMs: 300, everyMs: 50 },
): OpenclawFixture {
  const opened: OpenAgent[] = []
  const parts = testAgentServices({ name: 'bot', guardedFetch: fetch })
  const { url, token, responder } = place
  const begin = (): OpenAgent => {
    const read = openClawKind.schema.parse({ url, token, ...entry })
    const open = openOpenClaw(read, { ...parts, kv: { ...kv } }, times)
    opened.push(open)
    return open
  }
  const open = begin()
  return {
    open,
    agent: open.agent,
    kv,
    responder,
    lines: parts.lines,
    warn: parts.log.warn,
    reopen: (): Agent => begin().agent,
    close: async () => {
      for (const one of opened) await one.close?.()
    },
  }
}

type Harness = AgentHarness<OpenclawFixture>

/** The commands of the scripted responder, in the form of the contract. */
export const exchanges = {
  chat: { text: 'count to 5', answer: /^1 2 3 4 5$/, pieces: 2 },
  each: (word) => ({ text: `say ${word}`, answer: `You said ${word}` }),
  long: {
    text: 'work for ever',
    begun: ({ responder }) => responder.begun(),
    stopped: ({ responder }) => responder.stopped(),
  },
  failing: { text: 'fail now', shown: /^The agent/, hidden: 'sk-123' },
  memory: { tell: 'remember tangerine', ask: 'what was it?', expects: 'tangerine' },
  resume: 'reattach',
  slow: {
    text: 'take your time',
    answer: /^one two three$/,
    begun: ({ responder }) => responder.begun(),
    release: ({ responder }) => responder.release(),
  },
} satisfies Omit<Harness, 'open'>
