/** The agents of a hub without a configuration, as a kind: `{ kind: demo, agent: echo }`. */
import type { Agent, Report } from '@parley/a2a'
import { z } from 'zod'
import type { AgentKind, PartialCard } from '../agents/kind.ts'
import { clock } from './clock.ts'
import { concierge } from './concierge.ts'

/** Echoes the message. The smallest agent, for testing a connection. */
const echo: Agent = {
  // Repeating the answer is harmless.
  resume: 'rerun',
  async *run({ text, message }): AsyncGenerator<Report> {
    if (text !== '') yield text
    for (const part of message.parts) if (!('text' in part)) yield part
  },
}

const agents: Readonly<Record<'echo' | 'clock' | 'concierge', { readonly agent: Agent; readonly card: PartialCard }>> =
  {
    echo: {
      agent: echo,
      card: {
        name: 'Echo',
        description: 'Repeats the message.',
        skills: [{ id: 'echo', name: 'Echo', description: 'Repeats your text', tags: ['demo'], examples: ['Hello'] }],
      },
    },
    clock: {
      agent: clock,
      card: {
        name: 'Clock',
        description: 'Counts seconds, one chunk each. Cancel it, or restart the hub: it continues where it stopped.',
        skills: [
          {
            id: 'count',
            name: 'Count',
            description: 'Counts the given number of seconds',
            tags: ['demo'],
            examples: ['10'],
          },
        ],
      },
    },
    concierge: {
      agent: concierge,
      card: {
        name: 'Concierge',
        description: 'Asks back, then answers with data and a file.',
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
    },
  }

const schema = z.strictObject({ agent: z.enum(['echo', 'clock', 'concierge']) })

export const demoKind: AgentKind<z.output<typeof schema>> = {
  kind: 'demo',
  schema,
  open: ({ agent }) => agents[agent],
}

/** The configuration of a hub without a configuration file. */
export const demoConfig = {
  agents: {
    echo: { kind: 'demo', agent: 'echo', default: true },
    // An hour of counting, and some reserve.
    clock: { kind: 'demo', agent: 'clock', timeout: '62m' },
    concierge: { kind: 'demo', agent: 'concierge' },
  },
}
