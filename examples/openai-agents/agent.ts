/** An agent of the OpenAI Agents SDK: its tool sends money, so a person approves each call. */
import { Agent, tool } from '@openai/agents-core'
import { z } from 'zod'
import { offlineModel } from './offline-model.ts'

const pay = tool({
  name: 'pay',
  description: 'Pays an invoice',
  parameters: z.object({ invoice: z.string(), amount: z.number() }),
  needsApproval: true,
  // The id of the call is the idempotency key: after a crash the same call may run again.
  execute: async ({ invoice, amount }, _context, details) =>
    `paid ${amount} for ${invoice} (${details?.toolCall?.callId})`,
})

/** Replace the model by yours, such as `'gpt-5'`, and import from `@openai/agents`. */
export const agent = new Agent({
  name: 'Payments',
  instructions: 'Pay the invoices that the user names.',
  model: offlineModel(),
  tools: [pay],
})
