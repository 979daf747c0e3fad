/** Commands that an agent may run through the hub: in the folder of its session, with limited output. */
import { resolve, sep } from 'node:path'
import {
  type CreateTerminalRequest,
  type CreateTerminalResponse,
  type TerminalOutputResponse,
  type WaitForTerminalExitResponse,
  RequestError,
} from '@agentclientprotocol/sdk'
import { newId } from '@parley/a2a'
import type { ProgramManager } from '../programs/program-manager.ts'
import type { ProgramExit, Program } from '../programs/program.ts'

interface TerminalRef {
  readonly sessionId: string
  readonly terminalId: string
}

export interface TerminalMethods {
  create(request: CreateTerminalRequest): Promise<CreateTerminalResponse>
  output(at: TerminalRef): Promise<TerminalOutputResponse>
  waitForExit(at: TerminalRef): Promise<WaitForTerminalExitResponse>
  kill(at: TerminalRef): Promise<Record<string, never>>
  release(at: TerminalRef): Promise<Record<string, never>>
  /** Stops all terminals. */
  close(): Promise<void>
}

interface Terminal {
  readonly sessionId: string
  readonly program: Program
  readonly limitBytes: number
  output: Buffer
  isTruncated: boolean
  exit: ProgramExit | undefined
}

export interface TerminalDeps {
  readonly programs: ProgramManager
  readonly env: Readonly<Record<string, string>>
  readonly graceMs: number
  folderOf(sessionId: string): string | undefined
  readonly maxBytes?: number
  readonly maxTerminals?: number
}

export function createTerminalMethods(deps: TerminalDeps): TerminalMethods {
  const { programs, env, graceMs, folderOf, maxBytes = 1_000_000, maxTerminals = 32 } = deps
  const terminals = new Map<string, Terminal>()

  function find({ sessionId, terminalId }: TerminalRef): Terminal {
    const terminal = terminals.get(terminalId)
    if (terminal?.sessionId !== sessionId) throw RequestError.resourceNotFound(terminalId)
    return terminal
  }

  return {
    async create({ sessionId, command, args = [], env: more = [], cwd, outputByteLimit }) {
      const sessionFolder = folderOf(sessionId)
      if (sessionFolder === undefined) throw RequestError.sessionNotFound(sessionId)
      const folder = resolve(sessionFolder, cwd ?? '.')
      if (folder !== sessionFolder && !folder.startsWith(sessionFolder + sep)) {
        throw RequestError.invalidParams({ cwd }, 'the folder is outside the session folder')
      }
      if (terminals.size >= maxTerminals) throw RequestError.internalError(undefined, 'too many terminals are open')
      const limitBytes = Math.min(outputByteLimit ?? maxBytes, maxBytes)
      const terminal: Terminal = {
        sessionId,
        limitBytes,
        output: Buffer.alloc(0),
        isTruncated: false,
        exit: undefined,
        program: programs.start({
          command: [command, ...args],
          cwd: folder,
          env: { ...env, ...Object.fromEntries(more.map(({ name, value }) => [name, value])) },
          graceMs,
          onError() {},
          onErrorBytes: (chunk) => appendOutput(terminal, chunk),
        }),
      }
      const terminalId = newId()
      terminals.set(terminalId, terminal)
      terminal.program.endInput()
      void readOutput(terminal)
      return { terminalId }
    },
    async output(at) {
      const { output, isTruncated, exit } = find(at)
      return {
        output: output.toString('utf8'),
        truncated: isTruncated,
        ...(exit !== undefined ? { exitStatus: exitStatusOf(exit) } : {}),
      }
    },
    async waitForExit(at) {
      return exitStatusOf(await find(at).program.exited)
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

async function readOutput(terminal: Terminal): Promise<void> {
  void terminal.program.exited.then((exit) => void (terminal.exit = exit))
  for await (const chunk of terminal.program.output) appendOutput(terminal, chunk)
}

/** Drops output from the beginning, at a character boundary, because the end matters most. */
function appendOutput(terminal: Terminal, chunk: Uint8Array): void {
  const all = Buffer.concat([terminal.output, chunk])
  let from = Math.max(0, all.length - terminal.limitBytes)
  terminal.isTruncated ||= from > 0
  while (from > 0 && from < all.length && ((all[from] ?? 0) & 0xc0) === 0x80) from += 1
  terminal.output = all.subarray(from)
}

function exitStatusOf(exit: ProgramExit): WaitForTerminalExitResponse {
  if ('code' in exit) return { exitCode: exit.code, signal: null }
  return 'signal' in exit ? { exitCode: null, signal: exit.signal } : { exitCode: 127, signal: null }
}
