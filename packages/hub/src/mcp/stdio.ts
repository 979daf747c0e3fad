/** The bridge for one client that has started us as its program: one connection, over our input and output. */
import type { Readable, Writable } from 'node:stream'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import type { AgentLog } from '@parley/a2a'
import { createBridge } from './bridge.ts'
import type { BridgeSettings } from './call.ts'
import type { Desk } from './desk.ts'

export interface StdioParts {
  readonly desk: Desk
  readonly settings: BridgeSettings
  readonly input: Readable
  readonly output: Writable
  readonly log: AgentLog
}

export interface StdioBridge {
  /** Resolves when the client has gone. */
  readonly closed: Promise<void>
  close(): Promise<void>
}

export function openStdio({ desk, settings, input, output, log }: StdioParts): StdioBridge {
  const closed = Promise.withResolvers<void>()
  const transport = new StdioServerTransport(input, output)
  const handle = serveStdio(() => createBridge({ desk: () => desk, settings, log }), {
    transport,
    onerror: (cause) => log.warn('the MCP connection complains', { cause }),
  })
  // The entry takes the transport over, its own listener for the end included.
  for (const event of ['end', 'close', 'error'] as const) input.once(event, () => closed.resolve())
  return { closed: closed.promise, close: () => handle.close() }
}
