/**
 * MCP over stdin and stdout of a program. The SDK's own transport is not used for two reasons. The child processes of a
 * server must end with it: the program leads a process group that is ended as a whole. And the SDK concatenates the buffer
 * with each chunk, which copies a message of 20 MB a few hundred times.
 */
import { deserializeMessage, serializeMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client'
import type { AgentLog } from '@parley/a2a'
import { exceedsJsonNodes } from '@parley/a2a/server'
import { splitLines } from '../programs/lines.ts'
import type { ProgramManager } from '../programs/program-manager.ts'
import type { ProgramExit, Program } from '../programs/program.ts'
import type { MessageLimit } from './http-transport.ts'
import type { McpServer } from './server.ts'

const graceMs = 2_000

export interface ProgramTransportDeps {
  readonly start: ProgramManager['start']
  readonly log: AgentLog
  readonly limit: MessageLimit
}

export function createProgramTransport(
  server: Extract<McpServer, { command: unknown }>,
  { start, log, limit }: ProgramTransportDeps,
): Transport {
  let program: Program | undefined
  const transport: Transport & { readonly stderr: null; readonly pid: number | null } = {
    // By these two properties the SDK recognizes a program, and how programs behave.
    stderr: null,
    get pid() {
      return program?.pid ?? null
    },
    async start() {
      program = start({
        ...server,
        graceMs,
        onError: (line) => log.debug('an MCP server wrote to stderr', { server: server.command[0], line }),
      })
      if (program.pid === undefined) throw await startError(program)
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
    for await (const { text, endsAt } of splitLines(output, limit.bytes)) {
      const by = endsAt === 'limit' ? 'bytes' : exceedsJsonNodes(text, limit.nodes) ? 'nodes' : undefined
      if (by !== undefined) {
        transport.onerror?.(limit.exceeded(by))
        await stop()
        break
      }
      if (text.trim() !== '') receive(text)
    }
    log.debug('an MCP server has ended', { server: server.command[0], exit: await exited })
    transport.onclose?.()
  }

  function receive(text: string): void {
    try {
      transport.onmessage?.(deserializeMessage(text))
    } catch (reason) {
      // A line that is not a message: many servers print to stdout by mistake.
      transport.onerror?.(reason as Error)
    }
  }
}

async function startError({ exited }: Program): Promise<Error> {
  const exit: ProgramExit = await exited
  return 'error' in exit ? exit.error : new Error('the MCP server exited at startup')
}
