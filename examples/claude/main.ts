/** Serves the agent: an approval becomes INPUT_REQUIRED, and waits through restarts. */
import { serve } from '@parley/a2a/node'
import { agent } from './agent.ts'

await serve({ name: 'Payments', description: 'Pays invoices', port: Number(process.env.PORT ?? 3000), agent })
