/** What a client puts up with unless it is told otherwise: nothing that a peer does may last, grow or repeat for ever. */
import type { ClientLimits } from './contract.ts'

export const defaultLimits: ClientLimits = {
  timeoutMs: 30_000,
  // Node's own fetch gives up on an answer that has not begun after five minutes; longer would be a promise it breaks.
  answerTimeoutMs: 290_000,
  cardTimeoutMs: 10_000,
  idleTimeoutMs: 60_000,
  attempts: 5,
  firstDelayMs: 250,
  maxDelayMs: 10_000,
  pollMs: 3_000,
  maxCardBytes: 1_000_000,
  maxBodyBytes: 64_000_000,
  // A file comes as one event, so an event may be as large as an answer.
  maxEventBytes: 64_000_000,
  // Of a million small values, JSON.parse alone takes more than a second.
  maxJsonNodes: 100_000,
  maxRedirects: 5,
}
