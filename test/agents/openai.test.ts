import { agentContract } from '@parley/a2a/testing'
import type { AgentUnderTest } from '@parley/a2a/testing'
import { openaiKind } from '../../packages/hub/src/agents/openai/index.ts'
import { testAgentServices } from '../../packages/hub/src/agents/testing/test-agent-services.ts'
import { scriptedModel } from '../../packages/hub/src/agents/testing/scripted-model.ts'
import type { Script, ScriptedModel } from '../../packages/hub/src/agents/testing/scripted-model.ts'

interface Bench extends AgentUnderTest {
  readonly model: ScriptedModel
  release(): void
}

/** An agent keeps the contract with and without streaming. */
for (const stream of [true, false]) {
  agentContract(`openai, ${stream ? 'streaming' : 'not streaming [full]'},`, {
    async open(): Promise<Bench> {
      const gate = Promise.withResolvers<void>()
      const model = await scriptedModel(brain(gate.promise))
      const entry = openaiKind.schema.parse({
        baseUrl: model.url,
        model: 'scripted',
        stream,
        retries: 1,
        retryWait: '10ms',
      })
      const open = async () => (await openaiKind.open(entry, testAgentServices())).agent
      return { agent: await open(), reopen: open, model, release: gate.resolve, close: () => model.close() }
    },
    chat: { text: 'say hello there', answer: /^hello there$/, ...(stream ? { pieces: 3 } : {}) },
    each: (word) => ({ text: `say ${word}`, answer: word }),
    long: {
      text: 'for ever',
      begun: async ({ model }) => void (await model.requestSaying('for ever')),
      stopped: async ({ model }) => (await model.requestSaying('for ever')).closed,
    },
    failing: { text: 'break', shown: 'The model is down', hidden: 'host-17' },
    memory: { tell: 'say my colour is teal', ask: 'which colour?', expects: 'teal' },
    resume: 'rerun',
    slow: {
      text: 'slowly',
      answer: /^one two three$/,
      begun: async ({ model }) => void (await model.requestSaying('slowly')),
      release: (bench) => bench.release(),
    },
  })
}

function brain(gate: Promise<void>): Script {
  return ({ said, body }) => {
    if (said === 'for ever') return { say: ['I begin', '…'], hangAfter: 2 }
    if (said === 'break') return { status: 500, body: '{"error":{"message":"host-17 is down"}}' }
    if (said === 'slowly') return { say: ['one ', 'two ', 'three'], before: async (piece) => piece > 1 && gate }
    if (said === 'which colour?') {
      const known = body.messages.map(({ content }) => /my colour is (\w+)/.exec(String(content))?.[1])
      return { say: known.findLast((colour) => colour !== undefined) ?? 'Unknown' }
    }
    return { say: said.replace(/^say /, '').split(/(?= )|(?<=l)/) }
  }
}
