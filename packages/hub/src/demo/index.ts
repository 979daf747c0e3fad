/** The agents of a hub without a configuration, as a kind: `{ kind: demo, agent: echo }`. */
import { type Agent, type Report, data, file, inputRequired, status } from '@parley/a2a'
import { z } from 'zod'
import type { AgentKind, PartialCard } from '../agents/kind.ts'
import { clock } from './clock.ts'
import { rehearsal, rehearsalSkills } from './rehearsal.ts'

/** Echoes the message. The smallest agent, for testing a connection. */
const echo: Agent = {
  // Repeating the answer is harmless.
  resume: 'rerun',
  async *run({ text, message }): AsyncGenerator<Report> {
    if (text !== '') yield text
    for (const part of message.parts) if (!('text' in part)) yield part
  },
}

/** Asks for input before it answers, then answers with data and a file: a conversation in two turns. */
export const concierge: Agent = {
  resume: 'rerun',
  async *run({ text, history }): AsyncGenerator<Report> {
    const wishes = (await history()).filter(({ role }) => role === 'ROLE_USER')
    if (wishes.length < 2) {
      yield inputRequired('With pleasure. For which city, and for how many people?')
      return
    }
    yield status(`Looking for a table in ${text}`)
    const booking = { confirmation: 'PARLEY-42', place: text, at: '20:00' }
    yield data(booking)
    const note = `Your table\n\nWhere: ${booking.place}\nWhen: ${booking.at}\nConfirmation: ${booking.confirmation}\n`
    yield file(new TextEncoder().encode(note), { name: 'booking.txt', mediaType: 'text/plain' })
  },
}

const names = ['echo', 'clock', 'concierge', 'rehearsal'] as const

type DemoName = (typeof names)[number]

const agents: Readonly<Record<DemoName, { readonly agent: Agent; readonly card: PartialCard }>> = {
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
      description: 'Counts seconds, one chunk each. Continues after a restart of the hub.',
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
      description: 'Asks a question, then answers with data and a file.',
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
  rehearsal: {
    agent: rehearsal,
    card: {
      name: 'Rehearsal',
      description: 'Asks, works, fails, rejects or writes files on request, to try a client with.',
      skills: rehearsalSkills,
    },
  },
}

const schema = z.strictObject({ agent: z.enum(names).describe('The demo agent.') })

export const demoKind: AgentKind<z.output<typeof schema>> = {
  kind: 'demo',
  schema,
  open: ({ agent }) => agents[agent],
}

/** The configuration of a hub without a configuration file. */
export const demoConfig = {
  agents: {
    echo: { kind: 'demo', agent: 'echo', default: true },
    // An hour of counting, and some reserve. So has `work` of the rehearsal.
    clock: { kind: 'demo', agent: 'clock', timeout: '62m' },
    concierge: { kind: 'demo', agent: 'concierge' },
    rehearsal: { kind: 'demo', agent: 'rehearsal', timeout: '62m' },
  },
}
