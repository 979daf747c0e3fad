/** The program of the kill tests: an agent of Mastra, registered with storage in a file. */
import { createTool } from '@mastra/core/tools'
import { Memory } from '@mastra/memory'
import { fromMastra } from '@parley/a2a/adapters/mastra'
import { z } from 'zod'
import { type Script, says } from '../ai-sdk/scripted-model.ts'
import { causeEffect, childSettings, serveInChild } from '../killable-server.ts'
import { callsOnce, storedAgent } from './stored-agent.ts'

const settings = childSettings()
const { folder, life, resume } = settings

const script: Script = ({ text, toolResult }) => {
  if (toolResult !== undefined) return says(JSON.stringify(toolResult))
  if (['pay', 'charge', 'work'].includes(text)) return callsOnce(text, { amount: 7 })
  if (life > 1) return says('one ', 'two ', 'three')
  const [head, meta, begin, first] = says('one ')
  return new ReadableStream({
    start(controller) {
      for (const part of [head, meta, begin, first]) controller.enqueue(part!)
      console.log('begun')
      // The rest never comes in this life.
    },
  })
}

const inputSchema = z.object({ amount: z.number() })
const work = async (): Promise<string> => {
  causeEffect(settings)
  if (life === 1) await new Promise(() => {})
  return 'worked'
}
const tools = {
  pay: createTool({
    id: 'pay',
    description: 'Pays',
    inputSchema,
    requireApproval: true,
    execute: async () => {
      causeEffect(settings)
      return 'paid'
    },
  }),
  charge: createTool({ id: 'charge', description: 'Charges', inputSchema, requireApproval: true, execute: work }),
  work: createTool({ id: 'work', description: 'Works', inputSchema, execute: work }),
}

const agent = storedAgent(folder, script, { tools, memory: new Memory() })
await serveInChild(fromMastra(agent, { resume: resume === 'fail' ? 'fail' : 'rerun' }), settings)
