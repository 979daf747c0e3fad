/** The section `profiles`: ways of speaking that are not the protocol's, for those who need them. All are off by default. */
import { z } from 'zod'

export const profiles = z.strictObject({
  simpleTasks: z.boolean().default(false).meta({
    description:
      'POST /a2a/tasks/send and GET /a2a/tasks/{id} at the default agent, for programs that know no protocol.',
  }),
  botChat: z.boolean().default(false).meta({
    description: 'POST /bot-instances/{agent}/chat, which takes a text and waits for the answer, for managers of bots.',
  }),
  olderDraft: z.boolean().default(false).meta({
    description:
      'For clients of an early description of 0.3: traces and client tools unasked at /api/a2a, and REST at /v1 answered with `kind` to those who write it.',
  }),
})

export type Profiles = z.output<typeof profiles>
