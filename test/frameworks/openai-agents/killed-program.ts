/** The program of the kill tests: an agent of the OpenAI Agents SDK. */
import { Agent, RunState, Runner, tool, type StreamEvent } from '@openai/agents-core'
import { fromOpenAIAgents } from '@parley/a2a/adapters/openai-agents'
import { z } from 'zod'
import { causeEffect, childSettings, serveInChild } from '../killable-server.ts'
import { type Script, calls, says, scriptedModel } from './scripted-model.ts'

const settings = childSettings()
const { life, resume } = settings

const script: Script = ({ text, toolOutput }) => {
  if (text === 'step') {
    if (toolOutput === undefined)
      return [{ type: 'output_text_delta', delta: 'Counting.' }, ...calls('count', { amount: 7 })]
    if (life > 1) return says('counted')
    return hangs()
  }
  if (toolOutput !== undefined) return says(toolOutput)
  if (['pay', 'work', 'charge'].includes(text)) return calls(text, { amount: 7 })
  if (life > 1) return says('one ', 'two ', 'three')
  return hangs({ type: 'output_text_delta', delta: 'one ' })
}

/** The rest never comes in this life. */
async function* hangs(...events: readonly StreamEvent[]): AsyncGenerator<StreamEvent> {
  yield* events
  console.log('begun')
  await new Promise(() => {})
}

const parameters = z.object({ amount: z.number() })
const pay = tool({
  name: 'pay',
  description: 'Pays',
  parameters,
  needsApproval: true,
  execute: async () => {
    causeEffect(settings)
    return 'paid'
  },
})
const execute = async (): Promise<string> => {
  causeEffect(settings)
  if (life === 1) await new Promise(() => {})
  return 'worked'
}
const work = tool({ name: 'work', description: 'Works', parameters, execute })
const charge = tool({ name: 'charge', description: 'Charges', parameters, needsApproval: true, execute })
const count = tool({
  name: 'count',
  description: 'Counts',
  parameters,
  execute: async () => {
    causeEffect(settings)
    return 'counted'
  },
})

const agent = new Agent({ name: 'Killed', model: scriptedModel(script), tools: [pay, work, charge, count] })
const adapted = fromOpenAIAgents(agent, { Runner, RunState, resume: resume === 'fail' ? 'fail' : 'rerun' })
await serveInChild(adapted, settings)
