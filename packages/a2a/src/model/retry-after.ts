/** When a caller may retry: `Retry-After` over HTTP, `RetryInfo` over gRPC. */
import type { A2AError } from './error.ts'

/**
 * The seconds that the error states; by default one second. An unavailable agent returns none: its recovery time is unknown, and
 * clients take the header as an invitation to send the same request again.
 */
export function retryAfterSeconds({ code, details }: A2AError): string | undefined {
  const said = details['retryAfterSeconds']
  // A detail may be any text; only digits may reach the header.
  if (typeof said === 'string' && /^\d{1,9}$/.test(said)) return said
  return code === 'AGENT_UNAVAILABLE' ? undefined : '1'
}
