/**
 * What a command prints. With `-o json` stdout has protocol objects only; with `-o text` labels and values. Everything else, such as
 * progress, warnings and resume commands in JSON mode, goes to stderr.
 */
import type { Struct } from '@parley/a2a'
import type { Terminal } from '../terminal.ts'
import type { Redactor } from './redact.ts'
import { neutralize } from '@parley/a2a/command-line'
import { allowsStyles, createPrinter } from './printer.ts'

export interface Output {
  readonly format: 'text' | 'json'
  /** Whether `--stream` asks for one line per event. */
  readonly isStream: boolean
  /** Whether stdout is a terminal and no `-o` is set: a person reads the answer itself, instead of labels and values. */
  readonly isInteractive: boolean
  /** Whether text on a terminal may have styles: not with `NO_COLOR` and `TERM=dumb`. */
  readonly hasStyles: boolean
  /** Prints the one document of a command: indented, or on one line with `--stream`. Only in JSON mode. */
  document(value: unknown): Promise<void>
  /** Prints one line of `-o json --stream`. */
  line(value: unknown): Promise<void>
  /** Prints labels and values. Only in text mode. The text is already safe: see text.ts. */
  text(text: string): Promise<void>
  /** Prints a piece of an answer as it is. Only if the output is interactive; the text is already safe. */
  write(text: string): Promise<void>
  /** Text on stderr that a user reads: a warning, progress, the id of a task. Redacted and neutralised. */
  note(text: string): void
  warn(text: string): void
  /** Details on stderr with `--debug`. */
  debug(text: string, about?: Struct): void
  readonly isVerbose: boolean
  readonly isDebug: boolean
  /** Registers a secret that never appears on stderr or in an error. Objects of the protocol on stdout stay unmodified. */
  redact(secret: string): void
}

export interface OutputOptions {
  readonly terminal: Terminal
  readonly redactor: Redactor
  readonly format: 'text' | 'json'
  readonly isStream: boolean
  readonly isInteractive: boolean
  readonly isVerbose: boolean
  readonly isDebug: boolean
}

export function createOutput({ terminal, redactor, ...settings }: OutputOptions): Output {
  const startedAt = performance.now()
  const { printData, printError } = createPrinter(
    {
      isOutputTerminal: terminal.isOutputTerminal,
      print: (text) => terminal.write(`${text}\n`),
      printError: (text) => terminal.writeError(`${text}\n`),
    },
    (text) => neutralize(redactor.apply(text)),
  )
  return {
    ...settings,
    hasStyles: allowsStyles(terminal.environment),
    line: (value) => printData(JSON.stringify(value)),
    write: (text) => terminal.write(text),
    document: (value) => printData(JSON.stringify(value, null, settings.isStream ? undefined : 2)),
    text: (text) => terminal.write(text.endsWith('\n') ? text : `${text}\n`),
    note: printError,
    warn: (text) => printError(`Warning: ${text}`),
    debug(text, about) {
      if (!settings.isDebug) return
      const elapsed = ((performance.now() - startedAt) / 1_000).toFixed(3)
      printError(`[${elapsed}s] ${text}${about === undefined ? '' : ` ${JSON.stringify(about)}`}`)
    },
    redact: (secret) => redactor.add(secret),
  }
}
