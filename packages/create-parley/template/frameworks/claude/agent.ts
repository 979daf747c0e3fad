/** An agent of the Claude Agent SDK: its tool sends money, so a person approves each call. */
import { createSdkMcpServer, query, tool } from '@anthropic-ai/claude-agent-sdk'
import { fromClaude } from '@parley/a2a/adapters/claude'
import { z } from 'zod'
import { offlineEnvironment } from './offline-model.ts'

const pay = tool(
  'pay',
  'Pays an invoice',
  { invoice: z.string(), amount: z.number() },
  async ({ invoice, amount }, extra) => {
    // The idempotency key: after a crash the same call may run again.
    const { _meta: about = {} } = extra as { readonly _meta?: Record<string, unknown> }
    const key = String(about['claudecode/toolUseId'])
    return { content: [{ type: 'text', text: `paid ${amount} for ${invoice} (${key})` }] }
  },
)

export const agent = fromClaude(
  {
    query,
    options: {
      systemPrompt: 'You pay invoices.',
      tools: [],
      mcpServers: { bank: createSdkMcpServer({ name: 'bank', tools: [pay] }) },
      // Remove this line to use your own ANTHROPIC_API_KEY.
      env: await offlineEnvironment(),
    },
  },
  { approve: ['mcp__bank__pay'] },
)
