/** The error for a server that cannot be reached, in words where the platform's code needs them. Loaded on demand: few clients see it. */
import { A2AError } from '../../model/error.ts'
import { urlWithoutQuery } from './http-url.ts'

export function networkError(url: URL, reason: unknown): A2AError {
  const message = `${urlWithoutQuery(url)} cannot be reached: ${networkFailure(reason)}`
  return new A2AError('UNAVAILABLE', message, { reason: 'NETWORK' }, { cause: reason })
}

/** The platform's error code (`ECONNREFUSED`), but not its message, which may name an address within our network. */
function networkFailure(reason: unknown): string {
  const { code = 'no connection', message } = ((reason as Error).cause ?? reason) as { code?: string; message: string }
  if (/wrong.version.number/i.test(code + message)) return `it speaks http, not https (${code})`
  if (code === 'HPE_INVALID_CONSTANT' || /does not match the HTTP\/1\.1 protocol/.test(message))
    return `it is not an HTTP/1.1 server; is it a port of gRPC? (${code})`
  return code
}
