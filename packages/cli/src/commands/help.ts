/** `a2a help` and `--help`: the list of commands, a group of them, or one command with its options. */
import { globalOptions, isFromEnvironment, variableOf } from '../args/global-options.ts'
import { nearestName } from '../args/nearest-name.ts'
import type { OptionSpec } from '../args/option.ts'
import type { Command, CommandContext } from '../command.ts'
import { usageError } from '../output/cli-error.ts'

export async function run({ args, commands, terminal }: CommandContext): Promise<void> {
  await terminal.write(`${helpText(commands, args.operands, terminal.program)}\n`)
}

/** The help of these words. Throws a usage error if they begin no command. */
export function helpText(commands: readonly Command[], words: readonly string[], program: string): string {
  const query = words.join(' ')
  if (query === '') return overview(commands, program)
  const command = commands.find(({ name, aliases = [] }) => name === query || aliases.includes(query))
  if (command !== undefined) return commandHelp(command, program)
  const group = commands.filter(({ name }) => name.startsWith(`${query} `))
  if (group.length > 0) return groupHelp(query, group, program)
  const nearest = nearestName(
    query,
    commands.map(({ name }) => name),
  )
  throw usageError(
    `Unknown command "${query}".`,
    nearest === undefined ? `See \`${program} help\`.` : `Did you mean \`${program} help ${nearest}\`?`,
  )
}

function overview(commands: readonly Command[], program: string): string {
  return lines(
    'Calls agents that support the A2A protocol.',
    '',
    `Usage: ${program} <command> [options]`,
    '',
    'Commands:',
    ...columns(commands.map((command) => [usage(command), command.summary])),
    '',
    'Global options:',
    ...columns(globalOptions.map(optionRow)),
    '',
    'Each option that is not about one call has a variable: A2ACLI_POLL_INTERVAL is --poll-interval. Lists are separated by commas.',
    'Precedence: command line, environment, the nearest .env file or --config, ~/.config/a2a-cli/.env, default.',
    '',
    'Exit codes: 0 answered, 1 failure or error of the agent, 2 usage, 3 unreachable or no card, 4 credentials, 5 timeout.',
    '',
    `See \`${program} help <command>\` for the options of a command.`,
  )
}

function groupHelp(group: string, commands: readonly Command[], program: string): string {
  return lines(
    `Usage: ${program} ${group} <command> [options]`,
    '',
    'Commands:',
    ...columns(commands.map((command) => [usage(command), command.summary])),
    '',
    `See \`${program} help <command>\` for the options of a command.`,
  )
}

function commandHelp(command: Command, program: string): string {
  const { summary, details = [], options, examples, aliases = [] } = command
  return lines(
    summary,
    ...details.flatMap((paragraph) => ['', ...wrap(paragraph, 100)]),
    '',
    `Usage: ${program} ${usage(command)} [options]`,
    ...(aliases.length === 0 ? [] : [`Aliases: ${aliases.join(', ')}`]),
    ...(options.length === 0 ? [] : ['', 'Options:', ...columns(options.map(optionRow))]),
    '',
    'Global options:',
    ...columns(globalOptions.map(optionRow)),
    '',
    'Examples:',
    ...examples.map((example) => `  ${example.replace(/^a2a\b/, program)}`),
  )
}

export function usage({ name, operands }: Command): string {
  return operands === undefined ? name : `${name} ${operands}`
}

/** What help and the reference page say about an option, beside its name. */
export function optionRow(option: OptionSpec): readonly [names: string, about: string] {
  const { name, short, takes, aliases = [], values, repeatable, default: fallback } = option
  const names = `${short === undefined ? '    ' : `-${short}, `}--${name}${takes === undefined ? '' : ` ${takes}`}`
  const notes = [
    ...(values === undefined ? [] : [`One of ${values.join(', ')}.`]),
    ...(repeatable === true ? ['Repeatable.'] : []),
    ...(aliases.length === 0 ? [] : [`Also ${aliases.map((alias) => `--${alias}`).join(', ')}.`]),
    ...(fallback === undefined ? [] : [`Default: ${fallback}.`]),
    ...(isFromEnvironment(option, option.environmentCommands?.[0] ?? '') ? [`[${variableOf(option)}]`] : []),
  ]
  return [names, [option.summary, ...notes].join(' ')]
}

function lines(...all: readonly string[]): string {
  return all.join('\n')
}

const lineWidth = 110

/** Two columns, the second wrapped. A first column that is too wide has a line of its own. */
function columns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.min(34, Math.max(...rows.map(([first]) => first.length)))
  return rows.flatMap(([first, second]) => {
    const wrapped = wrap(second, lineWidth - width - 4)
    const indented = wrapped.map((line) => `  ${' '.repeat(width)}  ${line}`)
    if (first.length > width) return [`  ${first}`, ...indented]
    return [`  ${first.padEnd(width)}  ${wrapped[0] ?? ''}`, ...indented.slice(1)]
  })
}

function wrap(text: string, width: number): readonly string[] {
  const wrapped: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length + 1 > width) {
      wrapped.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...wrapped, line]
}
