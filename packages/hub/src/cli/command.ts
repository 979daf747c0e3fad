/** A command of `parley`, and its view of the process: only main.ts accesses the process itself. */
import type { Readable, Writable } from 'node:stream'
import type { ParseArgsConfig } from 'node:util'

export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  print(line: string): void
  /** Writes a document in a format for programs, such as JSON. */
  printData(text: string): void
  printError(line: string): void
  /** Writes to stderr without a line break: a line that is written again in place. */
  writeError(text: string): void
  /** Whether stderr is a terminal. */
  readonly isErrorTerminal: boolean
  /** Whether the output goes to a terminal, not to a file or a log. */
  readonly isOutputTerminal: boolean
  /** Stands for ESC in the styles of this program, where `print` replaces that of others. */
  readonly styleEscape?: string
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

export interface Flags {
  /** The value of a flag. */
  value(name: string): string | undefined
  /** The values of a repeatable flag. */
  values(name: string): readonly string[]
  has(name: string): boolean
  /** Arguments that belong to no flag. */
  readonly positionals: readonly string[]
}

export interface Command {
  /** `key create` */
  readonly name: string
  /** The arguments after its name: `<id>`. */
  readonly takes?: string
  readonly summary: string
  /** Lines for `parley help <name>`: one per flag. */
  readonly details?: readonly string[]
  readonly flags: NonNullable<ParseArgsConfig['options']>
  /** Whether it takes the command of another program, with its flags after `--`. */
  readonly acceptsCommand?: true
  /** The exit code. */
  run(flags: Flags, terminal: Terminal): Promise<number>
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

/** The command line itself is wrong: a missing argument, an unknown option. */
export function usageError(message: string): CliError {
  return new CliError(message, exitCodes.usage)
}
