/** What a command of `parley` is, and what it sees of the world: only main.ts knows the process. */
import type { Readable, Writable } from 'node:stream'
import type { ParseArgsConfig } from 'node:util'

export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  say(line: string): void
  complain(line: string): void
  /** Whether a person reads complaints, and not a program. */
  readonly isRead: boolean
  /** Whether the output goes to a terminal, not to a file or a log. */
  readonly isTerminal: boolean
  /** For a command that speaks a protocol with whoever started it: then nothing is said. */
  readonly input: Readable
  readonly output: Writable
  /** Resolves when the program is told to end. */
  untilToldToEnd(): Promise<void>
  /** Called for every SIGHUP. */
  onHangUp(listener: () => void): void
}

export interface Flags {
  /** Of a flag that takes a value. */
  text(name: string): string | undefined
  /** Of one that may be given several times. */
  texts(name: string): readonly string[]
  has(name: string): boolean
  /** Words that belong to no flag. */
  readonly words: readonly string[]
}

export interface Command {
  /** `key create` */
  readonly name: string
  /** What follows its name: `<id>`. */
  readonly takes?: string
  readonly summary: string
  /** Lines for `parley help <name>`: what each flag means. */
  readonly details?: readonly string[]
  readonly flags: NonNullable<ParseArgsConfig['options']>
  /** Whether it takes a command of another program, whose flags stand behind `--`. */
  readonly takesCommand?: true
  /** The exit code. */
  run(flags: Flags, terminal: Terminal): Promise<number>
}

/** Ends the command with this sentence and exit code 1; nothing is wrong with the program. */
export class Complaint extends Error {
  override readonly name = 'Complaint'
}
