/** The output of commands: a table or text for people, JSON with `-o json`, colours on a terminal only. */
import { styleText } from 'node:util'
import { neutralize } from '@parley/a2a/command-line'
import { allowsStyles, createPrinter } from '@parley/cli/internal'
import { programName } from './command-text.ts'
import { CliError, type Flags, type ProcessTerminal, type Terminal } from './command.ts'

export function wantsJson(flags: Flags): boolean {
  return flags.value('output') === 'json'
}

/**
 * The terminal of a command. Agents, callers and files of others wrote much of what commands print, so control characters and those that
 * reorder or hide text become visible escapes, and no line of theirs begins where lines of the program do. A pipe gets data as they are.
 * Commands in hints are spelled as a person can run them here.
 */
export function neutralizing(terminal: ProcessTerminal): Terminal {
  // Others cannot guess it, so only the styles of this program survive.
  const styleEscape = `\u001b${crypto.randomUUID()}`
  const shownEscape = neutralize(styleEscape)
  const command = `\`${programName(terminal.environment)} `
  const safe = (text: string): string =>
    neutralize(text).replaceAll(shownEscape, '\u001b').replaceAll('\n', '\n  ').replaceAll('`parley ', command)
  // Inherits, since properties of a terminal may be getters.
  const own = Object.create(terminal) as object
  return Object.assign(own, { styleEscape }, createPrinter(terminal, safe)) as Terminal
}

/** Prints `value` with `-o json`, and `lines` otherwise. */
export function printResult(flags: Flags, terminal: Terminal, value: unknown, lines: () => readonly string[]): void {
  if (wantsJson(flags)) return terminal.printData(JSON.stringify(value, null, 2))
  for (const line of lines()) terminal.print(line)
}

/**
 * Writes to stdout and waits until it is written, for output that must not be lost. `print` ignores a full disk and a closed pipe.
 * Throws CliError if it fails.
 */
export async function writeOutput({ output }: Pick<Terminal, 'output'>, data: string | Uint8Array): Promise<void> {
  // Loaded here, so that `parley help` loads only the list of commands.
  const { writeCompletely } = await import('../audit/write-completely.ts')
  try {
    await writeCompletely(output, data)
  } catch (reason) {
    throw new CliError(`The output cannot be written: ${(reason as Error).message}.`)
  }
}

type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red'

/** Plain text unless stdout is a terminal. NO_COLOR turns colours off. */
export function styled(terminal: Terminal, style: Style, text: string): string {
  if (!terminal.isOutputTerminal || !allowsStyles(terminal.environment)) return text
  const { styleEscape = '\u001b' } = terminal
  return styleText(style, text, { validateStream: false }).replaceAll('\u001b', styleEscape)
}

/** A header and one line per row, in aligned columns. */
export function tableLines(
  terminal: Terminal,
  header: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  const cells = rows.map((row) => row.map((cell) => neutralize(cell.replaceAll(/\s*[\r\n]\s*/g, ' '))))
  const widths = header.map((title, column) => Math.max(title.length, ...cells.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  return [styled(terminal, 'bold', line(header)), ...cells.map(line)]
}

/** `1 task`, `2 tasks` */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/**
 * A line of help in lines of at most `columns` characters. What follows the name of a flag or a command stays in its column, unless
 * less than half of the width is left for it.
 */
export function wrappedLine(line: string, columns = Infinity): readonly string[] {
  if (line.length <= columns) return [line]
  const [name = ''] = /^ *(?:\S+(?: \S+)* {2,})?/.exec(line) ?? []
  const indent = ' '.repeat(name.length <= columns / 2 ? name.length : 6)
  const lines: string[] = []
  let current = name
  for (const word of line.slice(name.length).split(' ')) {
    const isFirst = current === name || current === indent
    if (!isFirst && current.length + 1 + word.length > columns) {
      lines.push(current)
      current = indent + word
    } else current += isFirst ? word : ` ${word}`
  }
  return [...lines, current]
}
