/** The agents of a chaos run: their output names the hub and the attempt that ran them, so that a log shows its writer. */
import { artifact, inputRequired } from '@parley/a2a'
import type { Agent, Report, Turn } from '@parley/a2a'
import { createCounter, createFragileCounter } from '../../cluster/counter-agent.ts'

const by = process.env['PARLEY_REPLICA'] ?? 'unknown'

export const counter = createCounter(by)
export const fragile = createFragileCounter(by)

/** Two turns: asks for input, then answers with it. */
export const asker: Agent = {
  resume: 'rerun',
  async *run({ text, history, resumed }: Turn): AsyncGenerator<Report> {
    const said = (await history()).filter(({ role }) => role === 'ROLE_USER')
    if (said.length < 2) yield inputRequired('And?')
    else yield artifact('answer', { text, last: true, metadata: { by, attempt: resumed?.attempt ?? 1 } })
  },
}
