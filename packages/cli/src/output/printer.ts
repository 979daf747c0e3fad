/** What `a2a` and `parley` print, in one way: which text is made safe for a terminal, when it has styles, and how sizes are spelled. */
import { neutralize } from '@parley/a2a/command-line'

/** Where the lines go; `print` may report when they are written. */
export interface PrinterSinks<Written> {
  readonly isOutputTerminal: boolean
  print(text: string): Written
  printError(text: string): void
}

export interface Printer<Written> {
  /** A line for people on stdout. */
  print(line: string): Written
  /** A document for programs, such as JSON. A terminal gets the same values with visible escapes, a pipe the text as it is. */
  printData(text: string): Written
  /** A line for people on stderr. */
  printError(line: string): void
}

/** `safe` makes text that others wrote safe, and hides what nobody may see. */
export function createPrinter<Written>(sinks: PrinterSinks<Written>, safe: (text: string) => string): Printer<Written> {
  return {
    print: (line) => sinks.print(safe(line)),
    printData: (text) => sinks.print(sinks.isOutputTerminal ? neutralize(text) : text),
    printError: (line) => sinks.printError(safe(line)),
  }
}

/** Whether text on a terminal may have styles. */
export function allowsStyles(environment: Readonly<Record<string, string | undefined>>): boolean {
  return !environment['NO_COLOR'] && environment['TERM'] !== 'dumb'
}

const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** `10 B`, `1.2 kB`, `3.4 MB` */
export function formatSize(bytes: number): string {
  const power = bytes < 1_000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  return `${(bytes / 1_000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`
}
