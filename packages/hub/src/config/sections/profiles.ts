/** The section `profiles`: endpoints for clients that do not follow the A2A specification. All are off by default. */
import { z } from 'zod'

export const profilesSection = z.strictObject({
  simpleTasks: z.boolean().default(false).meta({
    description:
      'POST /a2a/tasks/send and GET /a2a/tasks/{id} at the default agent, for programs without an A2A client.',
  }),
  botChat: z.boolean().default(false).meta({
    description: 'POST /bot-instances/{agent}/chat, which accepts a text and waits for the answer, for bot managers.',
  }),
  olderDraft: z.boolean().default(false).meta({
    description:
      'Serves clients of an early description of 0.3 at /api/a2a and, for messages with `kind`, at /v1: traces and input requests on events, streams that stay open for answers, and the frames and errors that such clients read.',
  }),
})

export type ProfilesConfig = z.output<typeof profilesSection>
