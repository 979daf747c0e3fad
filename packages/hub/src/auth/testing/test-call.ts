/** A call of an agent with these headers, as a server makes it. */
import type { Call } from '@parley/a2a/server'

export function testCall(headers: Readonly<Record<string, string>> = {}, more: Partial<Call> = {}): Call {
  return {
    method: 'POST',
    path: '/',
    query: '',
    header: (name) => headers[name],
    remoteAddress: '192.0.2.1',
    clientAddress: '192.0.2.1',
    agent: 'team',
    endpoint: 'call',
    binding: 'JSONRPC',
    version: '1.0',
    ...more,
  }
}
