/** A command of `parley`, and its view of the process: only main.ts accesses the process itself. */
import type { Readable, Writable } from 'node:stream'
import { hasGiven, type CommandSpec, type ParsedArgs } from '@parley/cli/internal'

/** What main.ts passes in: `print` and `printError` write lines as they are. */
export interface ProcessTerminal {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  print(line: string): void
  printError(line: string): void
  /** Writes to stderr without a line break: a line that is written again in place. */
  writeError(text: string): void
  /** Whether stderr is a terminal. */
  readonly isErrorTerminal: boolean
  /** Whether the output goes to a terminal, not to a file or a log. */
  readonly isOutputTerminal: boolean
  /** The width of that terminal in characters. */
  readonly columns?: number | undefined
  /** For a command that exchanges protocol messages with its parent process over stdin and stdout; it prints nothing else. */
  readonly input: Readable
  readonly output: Writable
  /** Resolves when the program receives a signal to end. */
  untilShutdown(): Promise<void>
  /** Called for every SIGHUP, but for that of a closed terminal, which ends the program. */
  onReload(listener: () => void): void
}

/** The terminal of a command: what it prints is safe. */
export interface Terminal extends ProcessTerminal {
  /** Writes a document in a format for programs, such as JSON. */
  printData(text: string): void
  /** Stands for ESC in the styles of this program, where `print` replaces that of others. */
  readonly styleEscape?: string
}

export interface Flags {
  /** The value of a flag. */
  value(name: string): string | undefined
  /** The values of a repeatable flag. */
  values(name: string): readonly string[]
  has(name: string): boolean
  /** Arguments that belong to no flag. */
  readonly positionals: readonly string[]
}

export function flagsOf(args: ParsedArgs): Flags {
  const values = (name: string): readonly string[] =>
    args.options.flatMap((option) => (option.name === name && option.value !== undefined ? [option.value] : []))
  return {
    value: (name) => values(name).at(-1),
    values,
    has: (name) => hasGiven(args, name),
    positionals: args.operands,
  }
}

/** Returns the exit code. */
export type RunCommand = (flags: Flags, terminal: Terminal) => Promise<number>

export interface Command extends CommandSpec {
  /** Imports its implementation. */
  load(): Promise<RunCommand>
}

/** So that scripts can tell failures apart. 0 is success. */
export const exitCodes = { failure: 1, usage: 2, unreachable: 3, unauthorized: 4, timeout: 5 } as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** Ends the command with this message and exit code; not a bug of the program. */
export class CliError extends Error {
  override readonly name = 'CliError'
  readonly exitCode: ExitCode
  constructor(message: string, exitCode: ExitCode = exitCodes.failure) {
    super(message)
    this.exitCode = exitCode
  }
}

/** The command line itself is wrong: a missing argument, an unknown option. `hint` is what the user can do. */
export function usageError(message: string, hint?: string): CliError {
  return new CliError(hint === undefined ? message : `${message} ${hint}`, exitCodes.usage)
}
