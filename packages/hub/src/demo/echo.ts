/** Answers with what it was told. The smallest agent there is, and the one to try a connection with. */
import type { Agent, Report } from '@parley/a2a'

export const echo: Agent = {
  // Saying the same twice does no harm.
  resume: 'rerun',
  async *run({ text, message }): AsyncGenerator<Report> {
    if (text !== '') yield text
    for (const part of message.parts) if (!('text' in part)) yield part
  },
}
