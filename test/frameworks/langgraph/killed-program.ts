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
  const isCall = ['pay', 'work', 'charge', 'step'].includes(text)
  if (isCall && toolResult === undefined) yield { tool: text, args: { amount: 7 } }
  else if (toolResult !== undefined && (text !== 'step' || life > 1)) yield `The tool says ${toolResult}`
  else if (life > 1) yield* ['one ', 'two ', 'three']
  else {
    if (!isCall) yield 'one '
    console.log('begun')
    await new Promise(() => {})
  }
}

const schema = z.object({ amount: z.number() })
const returns = (name: string, result: string) =>
  tool(
    async () => {
      causeEffect(settings)
      return result
    },
    { name, description: name, schema },
  )
const works = (name: string) =>
  tool(
    async () => {
      causeEffect(settings)
      if (life === 1) await new Promise(() => {})
      return 'worked'
    },
    { name, description: name, schema },
  )

const agent = createAgent({
  model: new ScriptedChatModel(script),
  tools: [returns('pay', 'paid'), works('work'), works('charge'), returns('step', 'counted')],
  middleware: [approvals({ pay: true, charge: true })],
})
await serveInChild(fromLangGraph(agent, { resume: resume === 'fail' ? 'fail' : 'rerun' }), settings)
