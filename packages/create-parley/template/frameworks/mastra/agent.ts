/** An agent of Mastra whose tool asks before it books. A run that waits is in the storage, so that has to be durable. */
import { Mastra } from '@mastra/core'
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { LibSQLStore } from '@mastra/libsql'
import { Memory } from '@mastra/memory'
import { z } from 'zod'
import { offlineModel } from './offline-model.ts'

const book = createTool({
  id: 'book',
  description: 'Books a room',
  inputSchema: z.object({ room: z.string() }),
  suspendSchema: z.object({ question: z.string() }),
  resumeSchema: z.object({ nights: z.number().int().min(1) }),
  execute: async ({ room }, { agent }) => {
    const { nights } = agent?.resumeData ?? {}
    if (nights === undefined) return agent?.suspend({ question: 'For how many nights?' })
    // The id of the call is the idempotency key: after a crash the same call may run again.
    return `booked ${room} for ${nights} nights (${agent?.toolCallId})`
  },
})

const booking = new Agent({
  id: 'booking',
  name: 'Booking',
  instructions: 'Book the rooms that the user asks for.',
  // Replace the model by yours, such as 'openai/gpt-5'. The types of Mastra do not accept the mock.
  model: offlineModel() as never,
  tools: { book },
  memory: new Memory(),
})

const storage = new LibSQLStore({ id: 'storage', url: new URL('mastra.db', import.meta.url).href })
const mastra = new Mastra({ agents: { booking }, storage, logger: false })

export const agent = mastra.getAgent('booking')
