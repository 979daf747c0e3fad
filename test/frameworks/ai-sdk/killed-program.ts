/** The program of the kill tests: an agent of the AI SDK. */
import { fromAiSdk } from '@parley/a2a/adapters/ai-sdk'
import { ToolLoopAgent, tool } from 'ai'
import { z } from 'zod'
import { causeEffect, childSettings, serveInChild } from '../killable-server.ts'
import { type Script, calls, says, scriptedModel } from './scripted-model.ts'

const settings = childSettings()
const { life, resume } = settings

const script: Script = ({ text, toolResult }) => {
  if (toolResult !== undefined) return says(JSON.stringify(toolResult))
  if (text === 'pay' || text === 'work') return calls(text, { amount: 7 })
  const [head, meta, begin, first, ...rest] = says('one ', 'two ', 'three')
  if (life > 1) return says('one ', 'two ', 'three')
  return new ReadableStream({
    start(controller) {
      for (const part of [head, meta, begin, first]) controller.enqueue(part!)
      console.log('begun')
      // The rest never comes in this life.
      void rest
    },
  })
}

const inputSchema = z.object({ amount: z.number() })
const pay = tool({
  inputSchema,
  needsApproval: true,
  execute: async () => {
    causeEffect(settings)
    return 'paid'
  },
})
const work = tool({
  inputSchema,
  execute: async () => {
    causeEffect(settings)
    if (life === 1) await new Promise(() => {})
    return 'worked'
  },
})

const agent = new ToolLoopAgent({ model: scriptedModel(script), tools: { pay, work } })
await serveInChild(fromAiSdk(agent, { resume: resume === 'fail' ? 'fail' : 'rerun' }), settings)
