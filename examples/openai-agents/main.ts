/** Serves the agent: an approval becomes INPUT_REQUIRED, and waits through restarts. */
import { RunState, Runner } from '@openai/agents-core'
import { fromOpenAIAgents } from '@parley/a2a/adapters/openai-agents'
import { serve } from '@parley/a2a/node'
import { agent } from './agent.ts'

await serve({
  name: 'Payments',
  description: 'Pays invoices',
  port: Number(process.env.PORT ?? 3000),
  agent: fromOpenAIAgents(agent, { Runner, RunState }),
})
