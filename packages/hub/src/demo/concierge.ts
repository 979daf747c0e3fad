/** Asks for input before it answers, then answers with data and a file: a conversation in two turns. */
import { data, file, inputRequired, status } from '@parley/a2a'
import type { Agent, Report } from '@parley/a2a'

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
