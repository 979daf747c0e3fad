/** The agents of section 9 of the 0.2 specification, with the answers of the document. */
import { artifact, data, file, inputRequired, reply } from '@parley/a2a'
import type { Agent, Report, Turn } from '@parley/a2a'

export const joke = 'Why did the chicken cross the road? To get to the other side!'
export const question =
  'Sure, I can help with that! Where would you like to fly to, and from where? Also, what are your preferred travel dates?'
export const found = "Okay, I've found a flight for you. Confirmation XYZ123. Details are in the artifact."
export const itinerary = { confirmationId: 'XYZ123', from: 'JFK', to: 'LHR', departure: '2024-10-10T18:00:00Z' }
export const tickets = '[{"ticketNumber":"REQ12312","description":"request for VPN access"}]'
export const output = 'https://storage.example.com/processed/task-bbb/output.png?token=xyz'

/** Answers each example. The report is created when `reportIsDue` resolves. */
export function assistant(reportIsDue: Promise<void>): Agent {
  return async function* ({ text, message, history }: Turn): AsyncGenerator<Report> {
    switch (text.split(' ', 1)[0]) {
      case 'tell':
        yield artifact('joke', { name: 'joke', text: joke, last: true })
        return
      case 'write':
        yield artifact('paper', { text: '<section 1...>' })
        yield artifact('paper', { text: '<section 2...>', append: true })
        yield artifact('paper', { text: '<section 3...>', append: true, last: true })
        return
      case 'Generate':
        await reportIsDue
        yield 'The Q1 sales report'
        return
      case 'Analyze': {
        const sent = message.parts.some((part) => 'raw' in part && part.mediaType === 'image/png')
        yield sent ? file(output, { name: 'output.png', mediaType: 'image/png' }) : 'There is no image'
        return
      }
      case 'Show':
        yield tickets
        return
      default:
        if ((await history()).length === 1) return void (yield inputRequired(question))
        yield artifact('itinerary', { name: 'FlightItinerary.json', parts: [data(itinerary)], last: true })
        yield { state: 'TASK_STATE_COMPLETED', message: found }
    }
  }
}

/** Answers without a task. */
export const quick: Agent = () => reply(joke)
