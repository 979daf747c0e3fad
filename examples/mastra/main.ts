/** Serves the agent: `suspend()` becomes INPUT_REQUIRED with a form, and waits through restarts. */
import { fromMastra } from '@parley/a2a/adapters/mastra'
import { serve } from '@parley/a2a/node'
import { agent } from './agent.ts'

await serve({
  name: 'Booking',
  description: 'Books rooms',
  port: Number(process.env.PORT ?? 3000),
  agent: fromMastra(agent),
})
