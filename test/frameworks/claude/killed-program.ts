/** The program of the kill tests: an agent of the Claude Agent SDK. Each life has a folder of its own, as another replica has. */
import { spawn } from 'node:child_process'
import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createSdkMcpServer, query, tool, type Options } from '@anthropic-ai/claude-agent-sdk'
import { fromClaude } from '@parley/a2a/adapters/claude'
import type { Agent, AgentOutput, Turn } from '@parley/a2a'
import { z } from 'zod'
import { causeEffect, childSettings, serveInChild } from '../killable-server.ts'
import { offlineOptions, processList } from './claude-options.ts'
import { openMessagesApi } from './messages-api.ts'

const settings = childSettings()
const { life, resume } = settings
const folder = join(settings.folder, `replica-${life}`)
mkdirSync(folder, { recursive: true })

const model = await openMessagesApi(({ text, toolResult }) => {
  // Two tools, one after the other: what the first one did is a durable step.
  if (text === 'steps' && toolResult === undefined) return { says: ['First.'], calls: [call('note')] }
  if (toolResult === 'noted') return { calls: [call('work')] }
  if (toolResult !== undefined) return { says: [toolResult] }
  if (text === 'pay' || text === 'charge' || text === 'work') return { calls: [call(text)] }
  if (life > 1) return { says: ['one ', 'two ', 'three'] }
  return async (say) => {
    say('one ')
    console.log('begun')
    // The rest never comes in this life.
    await new Promise(() => {})
  }
})

function call(name: string): { readonly name: string; readonly input: object } {
  return { name: `mcp__bank__${name}`, input: { amount: 7 } }
}

const amount = { amount: z.number() }
const textResult = (text: string) => ({ content: [{ type: 'text' as const, text }] })
const pay = tool('pay', 'Pays', amount, async () => {
  causeEffect(settings)
  return textResult('paid')
})
const charge = tool('charge', 'Charges', amount, async () => {
  causeEffect(settings)
  if (life === 1) await new Promise(() => {})
  return textResult('charged')
})
const work = tool('work', 'Works', amount, async () => {
  causeEffect(settings)
  console.log('working')
  if (life === 1) await new Promise(() => {})
  return textResult('worked')
})
const note = tool('note', 'Notes', amount, async () => {
  causeEffect(settings)
  return textResult('noted')
})

const options: Options = {
  ...offlineOptions(model.url, folder),
  // The program outlives this process, and the test ends it.
  spawnClaudeCodeProcess({ command, args, cwd, env, signal }) {
    const child = spawn(command, args, {
      cwd,
      env,
      signal,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    appendFileSync(processList(process.ppid), `${child.pid}\n`)
    return child
  },
  allowedTools: ['mcp__bank__work', 'mcp__bank__note'],
  mcpServers: { bank: createSdkMcpServer({ name: 'bank', tools: [pay, charge, work, note] }) },
}
const agent = fromClaude(
  { query, options },
  { approve: ['mcp__bank__pay', 'mcp__bank__charge'], resume: resume === 'fail' ? 'fail' : 'rerun' },
) as Extract<Agent, { resume: 'rerun' }>
await serveInChild({ ...agent, run: printingSteps }, settings)

function printingSteps(turn: Turn): AgentOutput | Promise<AgentOutput> {
  const checkpoint: Turn['checkpoint'] = async (data) => {
    await turn.checkpoint(data)
    console.log('checkpoint')
  }
  const get = (target: Turn, key: string | symbol): unknown => {
    const value: unknown = Reflect.get(target, key, target)
    if (key === 'checkpoint') return checkpoint
    return typeof value === 'function' ? value.bind(target) : value
  }
  return agent.run(new Proxy(turn, { get }))
}
