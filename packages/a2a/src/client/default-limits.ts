/** Default limits of a client: nothing that a peer does may last, grow or repeat without end. */
import type { ClientLimits } from './contract.ts'

export const defaultClientLimits: ClientLimits = {
  timeoutMs: 30_000,
  // Node's fetch gives up after five minutes if the response has not begun, so a longer limit would have no effect.
  answerTimeoutMs: 290_000,
  cardTimeoutMs: 10_000,
  idleTimeoutMs: 60_000,
  attempts: 5,
  firstDelayMs: 250,
  maxDelayMs: 10_000,
  pollMs: 3_000,
  maxCardBytes: 1_000_000,
  maxBodyBytes: 64_000_000,
  // A file comes as one event, so an event may be as large as a response.
  maxEventBytes: 64_000_000,
  // JSON.parse alone takes more than a second for a million small values.
  maxJsonNodes: 100_000,
  maxRedirects: 5,
}
