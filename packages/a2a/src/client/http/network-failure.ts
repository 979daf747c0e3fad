/**
 * Why a server cannot be reached: the platform's error code (`ECONNREFUSED`), in words where it needs them. Not its message, which may
 * name an address within our network. Loaded on demand: few clients see it.
 */
export function networkFailure({ code = 'no connection', message }: Error & { readonly code?: string }): string {
  if (/wrong.version.number/i.test(code + message)) return `it speaks http, not https (${code})`
  if (code === 'HPE_INVALID_CONSTANT' || /does not match the HTTP\/1\.1 protocol/.test(message))
    return `it is not an HTTP/1.1 server; is it a port of gRPC? (${code})`
  return code
}
