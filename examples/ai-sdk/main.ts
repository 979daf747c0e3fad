/** Serves the agent: an approval becomes INPUT_REQUIRED, and waits through restarts. */
import { fromAiSdk } from '@parley/a2a/adapters/ai-sdk'
import { serve } from '@parley/a2a/node'
import { agent } from './agent.ts'

await serve({
  name: 'Payments',
  description: 'Pays invoices',
  port: Number(process.env.PORT ?? 3000),
  agent: fromAiSdk(agent),
})
