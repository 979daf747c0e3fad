/** The limits of a client; the defaults are in default-limits.ts. */

/**
 * The limits of a client, in milliseconds, bytes and counts. `connect` takes any of them in `limits`; the others keep their
 * default.
 */
export interface ClientLimits {
  /** Limit until a response begins, and again for the rest of a response that is not a stream. Default 30,000. */
  readonly timeoutMs: number
  /** The same for a send that waits for the agent. Default 290,000. */
  readonly answerTimeoutMs: number
  /** Limit for fetching the card. Default 10,000. */
  readonly cardTimeoutMs: number
  /** How long a stream may be silent before it reconnects; heartbeats do not count as silence. Default 60,000. */
  readonly idleTimeoutMs: number
  /** How often a safe call is attempted in total, and how often a broken stream reconnects in a row without progress. Default 5. */
  readonly attempts: number
  /** The first pause between attempts; it doubles with each one. Default 250. */
  readonly firstDelayMs: number
  /** The longest pause between attempts. Default 10,000. */
  readonly maxDelayMs: number
  /** The interval at which a task is polled if streaming is unavailable. Default 3,000. */
  readonly pollMs: number
  /** Maximum size of a card. Default 1,000,000. */
  readonly maxCardBytes: number
  /** Maximum size of a response. Default 64,000,000. */
  readonly maxBodyBytes: number
  /** Maximum size of one event of a stream. Default 64,000,000. */
  readonly maxEventBytes: number
  /** Maximum number of JSON values in one response, event or card. Default 100,000. */
  readonly maxJsonNodes: number
  /** Maximum number of redirects of one request. Default 5. */
  readonly maxRedirects: number
}
