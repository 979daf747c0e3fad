/** The program of the kill tests: an agent of the AI SDK. */
import { fromAiSdk } from '@parley/a2a/adapters/ai-sdk'
import { ToolLoopAgent, tool } from 'ai'
import { z } from 'zod'
import { causeEffect, childSettings, serveInChild } from '../killable-server.ts'
import { type Script, calls, says, scriptedModel } from './scripted-model.ts'

const settings = childSettings()
const { life, resume } = settings

const script: Script = ({ text, toolResult }) => {
  if (text === 'step' && toolResult !== undefined && life === 1) return hangs()
  if (toolResult !== undefined) return says(JSON.stringify(toolResult))
  if (['pay', 'work', 'charge', 'step'].includes(text)) return calls(text, { amount: 7 })
  return life > 1 ? says('one ', 'two ', 'three') : hangs('one ')
}

/** The rest never comes in this life. */
function hangs(...pieces: readonly string[]): ReturnType<Script> {
  return new ReadableStream({
    start(controller) {
      for (const part of says(...pieces).slice(0, -2)) controller.enqueue(part)
      console.log('begun')
    },
  })
}

const inputSchema = z.object({ amount: z.number() })
const returns = (result: string) => async () => {
  causeEffect(settings)
  return result
}
const execute = async () => {
  causeEffect(settings)
  if (life === 1) await new Promise(() => {})
  return 'worked'
}
const tools = {
  pay: tool({ inputSchema, needsApproval: true, execute: returns('paid') }),
  work: tool({ inputSchema, execute }),
  charge: tool({ inputSchema, needsApproval: true, execute }),
  step: tool({ inputSchema, execute: returns('counted') }),
}

const agent = new ToolLoopAgent({ model: scriptedModel(script), tools })
await serveInChild(fromAiSdk(agent, { resume: resume === 'fail' ? 'fail' : 'rerun' }), settings)
