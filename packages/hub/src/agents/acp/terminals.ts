/** Commands that an agent may run through the hub: below the folder of its session, with their output kept to a bound. */
import { resolve, sep } from 'node:path'
import type {
  CreateTerminalRequest,
  CreateTerminalResponse,
  TerminalOutputResponse,
  WaitForTerminalExitResponse,
} from '@agentclientprotocol/sdk'
import { RequestError } from '@agentclientprotocol/sdk'
import { newId } from '@parley/a2a'
import type { Programs } from '../programs/leftovers.ts'
import type { Exit, Program } from '../programs/program.ts'

interface At {
  readonly sessionId: string
  readonly terminalId: string
}

export interface TerminalMethods {
  create(request: CreateTerminalRequest): Promise<CreateTerminalResponse>
  output(at: At): Promise<TerminalOutputResponse>
  waitForExit(at: At): Promise<WaitForTerminalExitResponse>
  kill(at: At): Promise<Record<string, never>>
  release(at: At): Promise<Record<string, never>>
  /** Stops all of them. */
  close(): Promise<void>
}

interface Terminal {
  readonly sessionId: string
  readonly program: Program
  readonly limitBytes: number
  output: Buffer
  isCut: boolean
  exit: Exit | undefined
}

export interface TerminalParts {
  readonly programs: Programs
  readonly env: Readonly<Record<string, string>>
  readonly graceMs: number
  folderOf(sessionId: string): string | undefined
  readonly maxBytes?: number
  readonly maxTerminals?: number
}

export function terminalMethods(parts: TerminalParts): TerminalMethods {
  const { programs, env, graceMs, folderOf, maxBytes = 1_000_000, maxTerminals = 32 } = parts
  const terminals = new Map<string, Terminal>()

  function find({ sessionId, terminalId }: At): Terminal {
    const terminal = terminals.get(terminalId)
    if (terminal?.sessionId !== sessionId) throw RequestError.resourceNotFound(terminalId)
    return terminal
  }

  return {
    async create({ sessionId, command, args = [], env: more = [], cwd, outputByteLimit }) {
      const home = folderOf(sessionId)
      if (home === undefined) throw RequestError.sessionNotFound(sessionId)
      const folder = resolve(home, cwd ?? '.')
      if (folder !== home && !folder.startsWith(home + sep)) {
        throw RequestError.invalidParams({ cwd }, 'the folder is outside of the session')
      }
      if (terminals.size >= maxTerminals) throw RequestError.internalError(undefined, 'too many terminals are open')
      const limitBytes = Math.min(outputByteLimit ?? maxBytes, maxBytes)
      const terminal: Terminal = {
        sessionId,
        limitBytes,
        output: Buffer.alloc(0),
        isCut: false,
        exit: undefined,
        program: programs.start({
          command: [command, ...args],
          cwd: folder,
          env: { ...env, ...Object.fromEntries(more.map(({ name, value }) => [name, value])) },
          graceMs,
          onError() {},
          onErrorBytes: (chunk) => keep(terminal, chunk),
        }),
      }
      const terminalId = newId()
      terminals.set(terminalId, terminal)
      terminal.program.endInput()
      void follow(terminal)
      return { terminalId }
    },
    async output(at) {
      const { output, isCut, exit } = find(at)
      return {
        output: output.toString('utf8'),
        truncated: isCut,
        ...(exit !== undefined ? { exitStatus: statusOf(exit) } : {}),
      }
    },
    async waitForExit(at) {
      return statusOf(await find(at).program.exited)
    },
    async kill(at) {
      await find(at).program.stop()
      return {}
    },
    async release(at) {
      const { program } = find(at)
      terminals.delete(at.terminalId)
      await program.stop()
      return {}
    },
    async close() {
      const all = [...terminals.values()]
      terminals.clear()
      await Promise.all(all.map(({ program }) => program.stop()))
    },
  }
}

async function follow(terminal: Terminal): Promise<void> {
  void terminal.program.exited.then((exit) => void (terminal.exit = exit))
  for await (const chunk of terminal.program.output) keep(terminal, chunk)
}

/** The end is what counts: the beginning goes first, at a whole character. */
function keep(terminal: Terminal, chunk: Uint8Array): void {
  const all = Buffer.concat([terminal.output, chunk])
  let from = Math.max(0, all.length - terminal.limitBytes)
  terminal.isCut ||= from > 0
  while (from > 0 && from < all.length && ((all[from] ?? 0) & 0xc0) === 0x80) from += 1
  terminal.output = all.subarray(from)
}

function statusOf(exit: Exit): WaitForTerminalExitResponse {
  if ('code' in exit) return { exitCode: exit.code, signal: null }
  return 'signal' in exit ? { exitCode: null, signal: exit.signal } : { exitCode: 127, signal: null }
}
