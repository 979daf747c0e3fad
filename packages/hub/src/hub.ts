/** From settings to a running hub: the only file that knows all the parts. */
import { serve } from '@parley/a2a/node'
import type { Server } from '@parley/a2a/node'
import { cursor, timestamps, trace } from '@parley/a2a/server'
import { clock } from './demo/clock.ts'
import { concierge } from './demo/concierge.ts'
import { echo } from './demo/echo.ts'
import { openStore } from './open-store.ts'
import type { StoreSettings } from './open-store.ts'

export interface HubSettings extends StoreSettings {
  readonly host: string
  readonly port: number
  /** Default: no gRPC. */
  readonly grpcPort?: number | undefined
}

/** Who is asked and never answers is not waited for for ever: strangers' questions would pile up. */
const inputTimeout = { afterMs: 7 * 86_400_000, then: 'fail' } as const

/** The agents that every hub without a configuration shows. */
export const demoAgents = {
  echo: {
    agent: echo,
    name: 'Echo',
    description: 'Answers with what it was told.',
    skills: [{ id: 'echo', name: 'Echo', description: 'Says what you say', tags: ['demo'], examples: ['Hello'] }],
  },
  clock: {
    agent: clock,
    name: 'Clock',
    description: 'Counts seconds, one chunk each. Cancel it, or restart the hub: it goes on where it was.',
    skills: [
      {
        id: 'count',
        name: 'Count',
        description: 'Counts as many seconds as you say',
        tags: ['demo'],
        examples: ['10'],
      },
    ],
    // An hour of counting, and a little more.
    turnTimeoutMs: 3_700_000,
  },
  concierge: {
    agent: concierge,
    name: 'Concierge',
    description: 'Asks back, then answers with data and a file.',
    inputTimeout,
    skills: [
      {
        id: 'book',
        name: 'Book a table',
        description: 'Asks where, then books',
        tags: ['demo'],
        examples: ['A table, please'],
      },
    ],
  },
}

export async function startHub({ host, port, grpcPort, ...where }: HubSettings): Promise<Server> {
  const grpc = grpcPort === undefined ? {} : { grpcPort }
  const extensions = [cursor(), timestamps(), trace()]
  return serve({ host, port, ...grpc, push: true, extensions, store: openStore(where), agents: demoAgents })
}
