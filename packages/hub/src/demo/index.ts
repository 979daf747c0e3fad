/** The agents of a hub without a configuration, as a kind: `{ kind: demo, agent: echo }`. */
import { type Agent, type Report, artifact, reject, type Task, data, file, inputRequired, status } from '@parley/a2a'
import { z } from 'zod'
import type { AgentKind, PartialCard } from '../agents/kind.ts'
import { setTimeout as sleep } from 'node:timers/promises'

/** Echoes the message. The smallest agent, for testing a connection. */
const echo: Agent = {
  // Repeating the answer is harmless.
  resume: 'rerun',
  async *run({ text, message }): AsyncGenerator<Report> {
    if (text !== '') yield text
    for (const part of message.parts) if (!('text' in part)) yield part
  },
}

const maxSeconds = 3_600

/**
 * Counts seconds, one artifact chunk each: a long task to watch, to cancel, and to interrupt by a crash. After a restart it
 * continues from the log.
 */
export const clock: Agent = {
  resume: 'rerun',
  async *run({ text, signal, resumed }): AsyncGenerator<Report> {
    const seconds = /^\s*\d+\s*$/.test(text) ? Number(text) : Number.NaN
    if (!(seconds >= 1 && seconds <= maxSeconds)) {
      yield reject(`Tell me a number of seconds, from 1 to ${maxSeconds}.`)
      return
    }
    for (let tick = ticksIn(resumed?.task) + 1; tick <= seconds; tick += 1) {
      await sleep(1_000, undefined, { signal })
      yield artifact('ticks', { text: `${tick}\n`, append: tick > 1, last: tick === seconds })
    }
  },
}

/** The number of chunks that an interrupted run left in the log. */
function ticksIn(task: Task | undefined): number {
  const written = task?.artifacts?.find(({ artifactId }) => artifactId === 'ticks')
  const text = written?.parts.map((part) => ('text' in part ? part.text : '')).join('') ?? ''
  return text.split('\n').length - 1
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
  }

const schema = z.strictObject({ agent: z.enum(['echo', 'clock', 'concierge']).describe('The demo agent.') })

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
