/** An agent of the Vercel AI SDK: its tool sends money, so a person approves each call. */
import { ToolLoopAgent, tool } from 'ai'
import { z } from 'zod'
import { offlineModel } from './offline-model.ts'

const pay = tool({
  description: 'Pays an invoice',
  inputSchema: z.object({ invoice: z.string(), amount: z.number() }),
  needsApproval: true,
  // `toolCallId` is the idempotency key: after a crash the same call may run again.
  execute: async ({ invoice, amount }, { toolCallId }) => `paid ${amount} for ${invoice} (${toolCallId})`,
})

/** Replace the model by yours, such as `openai('gpt-5')` of `@ai-sdk/openai`. */
export const agent = new ToolLoopAgent({ model: offlineModel(), tools: { pay } })
