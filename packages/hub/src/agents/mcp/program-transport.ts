/**
 * MCP over the input and output of a program. Our own and not the SDK's, because a server's own children have to go with
 * it: the program leads a group that is ended as a whole.
 */
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/client'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import type { AgentLog } from '@parley/a2a'
import { startProgram } from '../programs/program.ts'
import type { Exit, Program } from '../programs/program.ts'
import type { McpServer } from './server.ts'

/** Of one message. */
const limitBytes = 20_000_000
const graceMs = 2_000

export function programTransport(server: Extract<McpServer, { command: unknown }>, log: AgentLog): Transport {
  let program: Program | undefined
  const transport: Transport & { readonly stderr: null; readonly pid: number | null } = {
    // By these two the SDK knows that there is a program at the other end, and how such ones behave.
    stderr: null,
    get pid() {
      return program?.pid ?? null
    },
    async start() {
      program = startProgram({
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
    const buffer = new ReadBuffer({ maxBufferSize: limitBytes })
    try {
      for await (const chunk of output) {
        buffer.append(Buffer.from(chunk))
        hear(buffer)
      }
    } catch (reason) {
      transport.onerror?.(reason as Error)
      await stop()
    }
    log.debug('an MCP server has ended', { server: server.command[0], exit: await exited })
    transport.onclose?.()
  }

  function hear(buffer: ReadBuffer): void {
    for (;;) {
      try {
        const message = buffer.readMessage()
        if (message === null) return
        transport.onmessage?.(message)
      } catch (reason) {
        // A line that is no message: many servers print to their output when they should not.
        transport.onerror?.(reason as Error)
      }
    }
  }
}

async function whyNot({ exited }: Program): Promise<Error> {
  const exit: Exit = await exited
  return 'error' in exit ? exit.error : new Error('the MCP server ended at once')
}
