/**
 * MCP over the input and output of a program. Our own and not the SDK's, because a server's own children have to go with
 * it: the program leads a group that is ended as a whole. And because the SDK's joins what came before with each chunk,
 * which for a message of 20 MB is a copy of it a few hundred times over.
 */
import { deserializeMessage, serializeMessage } from '@modelcontextprotocol/client'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import type { AgentLog } from '@parley/a2a'
import { exceedsJsonNodes } from '@parley/a2a/server'
import { linesOf } from '../programs/lines.ts'
import type { Programs } from '../programs/leftovers.ts'
import type { Exit, Program } from '../programs/program.ts'
import type { MessageLimit } from './http-transport.ts'
import type { McpServer } from './server.ts'

const graceMs = 2_000

export interface ProgramTransportParts {
  readonly start: Programs['start']
  readonly log: AgentLog
  readonly limit: MessageLimit
}

export function programTransport(
  server: Extract<McpServer, { command: unknown }>,
  { start, log, limit }: ProgramTransportParts,
): Transport {
  let program: Program | undefined
  const transport: Transport & { readonly stderr: null; readonly pid: number | null } = {
    // By these two the SDK knows that there is a program at the other end, and how such ones behave.
    stderr: null,
    get pid() {
      return program?.pid ?? null
    },
    async start() {
      program = start({
        ...server,
        graceMs,
        onError: (line) => log.debug('an MCP server says', { server: server.command[0], line }),
      })
      if (program.pid === undefined) throw await whyNot(program)
      void read(program)
    },
    async send(message: JSONRPCMessage) {
      if (program === undefined) throw new Error('the MCP server is not running')
      program.write(serializeMessage(message))
    },
    async close() {
      await program?.stop()
    },
  }
  return transport

  async function read({ output, exited, stop }: Program): Promise<void> {
    for await (const { text, endsAt } of linesOf(output, limit.bytes)) {
      const by = endsAt === 'limit' ? 'bytes' : exceedsJsonNodes(text, limit.nodes) ? 'nodes' : undefined
      if (by !== undefined) {
        transport.onerror?.(limit.exceeded(by))
        await stop()
        break
      }
      if (text.trim() !== '') hear(text)
    }
    log.debug('an MCP server has ended', { server: server.command[0], exit: await exited })
    transport.onclose?.()
  }

  function hear(text: string): void {
    try {
      transport.onmessage?.(deserializeMessage(text))
    } catch (reason) {
      // A line that is no message: many servers print to their output when they should not.
      transport.onerror?.(reason as Error)
    }
  }
}

async function whyNot({ exited }: Program): Promise<Error> {
  const exit: Exit = await exited
  return 'error' in exit ? exit.error : new Error('the MCP server ended at once')
}
