/** Serves the graph: an interrupt becomes INPUT_REQUIRED, and waits through restarts. */
import { fromLangGraph } from '@parley/a2a/adapters/langgraph'
import { serve } from '@parley/a2a/node'
import { agent } from './agent.ts'

await serve({
  name: 'Booking',
  description: 'Books rooms',
  port: Number(process.env.PORT ?? 3000),
  agent: fromLangGraph(agent),
})
