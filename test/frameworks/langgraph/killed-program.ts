/** The program of the kill tests: an agent of LangChain on LangGraph, without a checkpointer of its own. */
import { tool } from '@langchain/core/tools'
import { fromLangGraph } from '@parley/a2a/adapters/langgraph'
import { createAgent } from 'langchain'
import { z } from 'zod'
import { causeEffect, childSettings, serveInChild } from '../killable-server.ts'
import { approvals } from './approvals.ts'
import { type Script, ScriptedChatModel } from './scripted-chat-model.ts'

const settings = childSettings()
const { life, resume } = settings

const script: Script = async function* ({ text, toolResult }) {
  if (toolResult !== undefined) yield `The tool says ${toolResult}`
  else if (text === 'pay' || text === 'work') yield { tool: text, args: { amount: 7 } }
  else if (life > 1) yield* ['one ', 'two ', 'three']
  else {
    yield 'one '
    console.log('begun')
    await new Promise(() => {})
  }
}

const schema = z.object({ amount: z.number() })
const pay = tool(
  async () => {
    causeEffect(settings)
    return 'paid'
  },
  { name: 'pay', description: 'Pays', schema },
)
const work = tool(
  async () => {
    causeEffect(settings)
    if (life === 1) await new Promise(() => {})
    return 'worked'
  },
  { name: 'work', description: 'Works', schema },
)

const agent = createAgent({
  model: new ScriptedChatModel(script),
  tools: [pay, work],
  middleware: [approvals({ pay: true })],
})
await serveInChild(fromLangGraph(agent, { resume: resume === 'fail' ? 'fail' : 'rerun' }), settings)
