/** When a caller may come back: `Retry-After` over HTTP, `RetryInfo` over gRPC. */
import type { A2AError } from './error.ts'

/**
 * Seconds, as the error says; a second where it says nothing. An agent that is down gives none: nothing is known of when it
 * is back, and clients take the header as an invitation to send the same again.
 */
export function retryAfterSeconds({ code, details }: A2AError): string | undefined {
  const said = details['retryAfterSeconds']
  // A detail may be any text, and must not become one in a header.
  if (typeof said === 'string' && /^\d{1,9}$/.test(said)) return said
  return code === 'AGENT_UNAVAILABLE' ? undefined : '1'
}
