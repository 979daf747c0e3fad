/** The output of `parley help`. */
import type { Command } from './command.ts'

export function helpLines(commands: readonly Command[], words: readonly string[]): readonly string[] {
  const query = words.join(' ')
  const about = commands.filter(({ name }) => query !== '' && (name === query || name.startsWith(`${query} `)))
  if (about.length > 0) return about.flatMap(commandHelp)
  const width = Math.max(...commands.map((command) => usage(command).length))
  return [
    'parley: any agent you already run becomes an A2A agent.',
    '',
    ...commands.map((command) => `  parley ${usage(command).padEnd(width)}  ${command.summary}`),
    `  parley ${'help [command]'.padEnd(width)}  Shows the help of a command.`,
    `  parley ${'--version'.padEnd(width)}  Shows the version.`,
  ]
}

function usage({ name, takes }: Command): string {
  return takes === undefined ? name : `${name} ${takes}`
}

function commandHelp(command: Command): readonly string[] {
  return [`parley ${usage(command)}`, `  ${command.summary}`, ...(command.details ?? []).map((line) => `  ${line}`), '']
}
