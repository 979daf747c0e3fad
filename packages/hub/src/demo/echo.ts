/** Echoes the message. The smallest agent, for testing a connection. */
import type { Agent, Report } from '@parley/a2a'

export const echo: Agent = {
  // Repeating the answer is harmless.
  resume: 'rerun',
  async *run({ text, message }): AsyncGenerator<Report> {
    if (text !== '') yield text
    for (const part of message.parts) if (!('text' in part)) yield part
  },
}
