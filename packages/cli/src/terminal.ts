/** What a command sees of the process: only main.ts accesses the process itself, so that tests can run a command in memory. */
import type { Readable, Writable } from 'node:stream'

export interface Terminal {
  /** How the user starts the program, for the commands that it prints: `a2a`, or `parley a2a`. */
  readonly program: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** The user's home folder; `undefined` if there is none. */
  readonly home: string | undefined
  readonly isInputTerminal: boolean
  readonly isOutputTerminal: boolean
  readonly isErrorTerminal: boolean
  /** The width of stdout if it is a terminal that tells it. */
  readonly columns: number | undefined
  readonly input: Readable
  /** stdout, for a library that needs a stream (the prompt of `chat`). Commands write through `Output`. */
  readonly output: Writable
  /** Writes to stdout; resolves when the reader of a pipe has taken it, and rejects with EPIPE if it is gone. */
  write(text: string): Promise<void>
  writeError(text: string): void
  /** Calls `listener` for each Ctrl-C and SIGTERM, with its count from 1. Returns the function that removes it. */
  onInterrupt(listener: (count: number) => void): () => void
}
