import { inputRequired, newId } from '@parley/a2a'
import type { Agent } from '@parley/a2a'
import { agentContract } from '@parley/a2a/testing'
import type { AgentUnderTest } from '@parley/a2a/testing'
import type { OpenAgent } from '../../packages/hub/src/agents/kind.ts'
import { loopKind } from '../../packages/hub/src/agents/loop/index.ts'
import { openaiKind } from '../../packages/hub/src/agents/openai/index.ts'
import { testAgentServices } from '../../packages/hub/src/agents/testing/test-agent-services.ts'
import { scriptedModel } from '../../packages/hub/src/agents/testing/scripted-model.ts'
import type { Script } from '../../packages/hub/src/agents/testing/scripted-model.ts'
import { testInProcessClient } from '../../packages/hub/src/agents/testing/test-in-process-client.ts'
import { toolProbe } from './loop-tool-probes.ts'
import type { ToolProbe } from './loop-tool-probes.ts'

interface Bench extends AgentUnderTest {
  readonly probe: ToolProbe
}

agentContract('loop', {
  async open(): Promise<Bench> {
    const name = newId()
    const model = await scriptedModel(brain(name))
    const inProcessClient = testInProcessClient({ travel })
    const gpt = await openaiKind.open(
      openaiKind.schema.parse({ baseUrl: model.url, model: 'scripted', retries: 0 }),
      testAgentServices(),
    )
    const entry = loopKind.schema.parse({ model: 'gpt', tools: [{ module: './loop-tools.ts' }, { agent: 'travel' }] })
    const opened: OpenAgent[] = []
    const open = async (): Promise<Agent> => {
      const parts = testAgentServices({ baseDir: import.meta.dirname, inProcessClient, model: () => gpt.model })
      const one = await loopKind.open(entry, parts)
      opened.push(one)
      return one.agent
    }
    return {
      agent: await open(),
      reopen: open,
      probe: toolProbe(name),
      async close() {
        for (const one of opened) await one.close?.()
        await inProcessClient.close()
        await model.close()
      },
    }
  },
  chat: { text: 'say hello there', answer: /^hello there$/, pieces: 3 },
  each: (word) => ({ text: `say ${word}`, answer: word }),
  long: {
    text: 'wait for the gate',
    begun: ({ probe }) => probe.started.promise,
    stopped: ({ probe }) => probe.stopped.promise,
  },
  failing: { text: 'break', shown: 'The model is down', hidden: 'host-17' },
  memory: { tell: 'say my colour is teal', ask: 'which colour?', expects: 'teal' },
  question: { text: 'book a flight', asks: 'Which city?', answer: 'Lisbon', then: /flight to Lisbon/ },
  resume: 'rerun',
  slow: {
    text: 'note, then wait for the gate',
    // No call is repeated: one has a stored result, the outcome of the other is unknown.
    answer: /^I begin\.\n\nnotes: 1, then (the gate is open|unknown)$/,
    begun: ({ probe }) => probe.started.promise,
    release: ({ probe }) => probe.release.resolve(),
  },
})

const travel: Agent = {
  resume: 'rerun',
  async run({ text, history }) {
    const [first] = await history()
    return first?.parts.some((part) => 'text' in part && part.text === text)
      ? inputRequired('Which city?')
      : `A flight to ${text}`
  },
}

function brain(probe: string): Script {
  return ({ said, body }) => {
    const asked = String(body.messages.findLast(({ role }) => role === 'user')?.content)
    const results = body.messages.flatMap(({ role, content }) => (role === 'tool' ? [String(content)] : []))
    const last = body.messages.at(-1)?.role === 'tool' ? said : undefined
    switch (asked) {
      case 'break':
        return { status: 500, body: '{"error":{"message":"host-17 is down"}}' }
      case 'wait for the gate':
        return last === undefined ? { calls: [{ name: 'wait_for_gate', input: { probe } }] } : { say: last }
      case 'note, then wait for the gate': {
        if (last === undefined) return { say: 'I begin.', calls: [{ name: 'note', input: { probe }, id: 'note' }] }
        if (last === 'noted') return { calls: [{ name: 'wait_for_gate', input: { probe }, id: 'wait' }], fragments: 3 }
        const notes = toolProbe(probe).calls.filter((name) => name === 'note').length
        return { say: `notes: ${notes}, then ${last.includes('unknown') ? 'unknown' : last}` }
      }
      case 'book a flight':
      case 'Lisbon':
        return results.length === 0
          ? { calls: [{ name: 'ask_travel', input: { message: 'A flight, please' } }] }
          : { say: `I booked a ${results.at(-1)?.replace('A ', '')}` }
      case 'which colour?': {
        const known = body.messages.map(({ content }) => /my colour is (\w+)/.exec(String(content))?.[1])
        return { say: known.findLast((colour) => colour !== undefined) ?? 'Unknown' }
      }
      default:
        return { say: asked.replace(/^say /, '').split(/(?= )|(?<=l)/) }
    }
  }
}
