/**
 * What a command prints. With `-o json` stdout has protocol objects only; with `-o text` labels and values. Everything else, such as
 * progress, warnings and resume commands in JSON mode, goes to stderr.
 */
import type { Struct } from '@parley/a2a'

export interface Output {
  readonly format: 'text' | 'json'
  /** Whether `--stream` asks for one line per event. */
  readonly isStream: boolean
  /** Prints the one document of a command: indented, or on one line with `--stream`. Only in JSON mode. */
  document(value: unknown): Promise<void>
  /** Prints one line of `-o json --stream`. */
  line(value: unknown): Promise<void>
  /** Prints labels and values. Only in text mode. The text is already safe: see text.ts. */
  text(text: string): Promise<void>
  /** Text on stderr that a user reads: a warning, progress, the id of a task. Redacted and neutralised. */
  note(text: string): void
  warn(text: string): void
  /** Details on stderr with `--debug`. */
  debug(text: string, about?: Struct): void
  readonly isVerbose: boolean
  readonly isDebug: boolean
  /** Registers a secret that never appears in any output. */
  redact(secret: string): void
}
