/** `a2a help` and `--help`: the list of commands, a group of them, or one command with its options. */
import { configOption, readConfigFiles } from '../args/config-files.ts'
import { globalOptions, isFromEnvironment, variableOf } from '../args/global-options.ts'
import { nearestName } from '../args/nearest-name.ts'
import type { OptionSpec, ParsedArgs } from '../args/option.ts'
import { resolveSettings } from '../args/resolve-settings.ts'
import type { Command, CommandContext } from '../command.ts'
import { usageError } from '../output/cli-error.ts'
import type { Terminal } from '../terminal.ts'

export async function run({
  args,
  commands,
  terminal,
}: Pick<CommandContext, 'args' | 'commands' | 'terminal'>): Promise<void> {
  await terminal.write(`${helpText(commands, args.operands, { terminal, args })}\n`)
}

interface HelpOptions {
  readonly terminal: Pick<Terminal, 'program' | 'environment' | 'cwd' | 'home'>
  /** Of this run: `--config` changes defaults. */
  readonly args: ParsedArgs
}

/** What the environment and the files set instead of a default, by option, with its source. */
type Configured = ReadonlyMap<OptionSpec, string>

/** The help of these words, with the defaults in effect. Throws a usage error if they begin no command. */
function helpText(commands: readonly Command[], words: readonly string[], options: HelpOptions): string {
  const { program } = options.terminal
  const query = words.join(' ')
  if (query === '') return overview(commands, program, configuredDefaults('', [], options))
  const command = commands.find(({ name, aliases = [] }) => name === query || aliases.includes(query))
  if (command !== undefined)
    return commandHelp(command, program, configuredDefaults(command.name, command.options, options))
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

function overview(commands: readonly Command[], program: string, configured: Configured): string {
  return lines(
    'Calls agents that support the A2A protocol.',
    '',
    `Usage: ${program} <command> [options]`,
    '',
    'Commands:',
    ...columns(commands.map((command) => [usage(command), command.summary])),
    '',
    'Global options:',
    ...columns(globalOptions.map((option) => optionRow(option, configured))),
    '',
    'Each option that is not about one call has a variable: A2ACLI_POLL_INTERVAL is --poll-interval. Lists are separated by commas.',
    'Precedence: command line, environment, the nearest .env file or --config, ~/.config/a2a-cli/.env, default.',
    '',
    'Exit codes: 0 answered, 1 failure or error of the agent, 2 usage, 3 unreachable or no card, 4 credentials, 5 timeout; with --exit-status also 1 task without success, 6 task that waits.',
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

function commandHelp(command: Command, program: string, configured: Configured): string {
  const { summary, details = [], options, examples, aliases = [] } = command
  return lines(
    summary,
    ...details.flatMap((paragraph) => ['', ...wrap(withProgram(paragraph, program), lineWidth)]),
    '',
    `Usage: ${program} ${usage(command)} [options]`,
    ...(aliases.length === 0 ? [] : [`Aliases: ${aliases.join(', ')}`]),
    ...(options.length === 0
      ? []
      : ['', 'Options:', ...columns(options.map((option) => optionRow(option, configured)))]),
    ...globalOptionsHelp(command, program, configured),
    '',
    'Examples:',
    ...examples.map((example) => `  ${withProgram(example, program)}`),
  )
}

/** The global options that matter for the command, and those that the environment or a file sets. `a2a help` has the others. */
function globalOptionsHelp(command: Command, program: string, configured: Configured): readonly string[] {
  const usesAgent = command.usesAgent !== false
  const described = globalOptions.filter(
    (option) => command.globalOptions.includes(option.name) || (usesAgent && configured.has(option)),
  )
  return [
    ...(described.length === 0
      ? []
      : ['', 'Global options:', ...columns(described.map((option) => optionRow(option, configured)))]),
    '',
    usesAgent
      ? `For --endpoint, --bearer, --api-key, --svc-param, --debug and other global options see \`${program} help\`.`
      : `For the global options see \`${program} help\`.`,
  ]
}

/** The command line with the name that the user started the program by: `parley a2a`. */
function withProgram(line: string, program: string): string {
  return line.replace(/\ba2a(?= )/, program)
}

export function usage({ name, operands }: Command): string {
  return operands === undefined ? name : `${name} ${operands}`
}

/** What help and the reference page say about an option, beside its name. */
export function optionRow(option: OptionSpec, configured?: Configured): readonly [names: string, about: string] {
  const { name, short, takes, aliases = [], values, repeatable, default: fallback } = option
  const names = `${short === undefined ? '    ' : `-${short}, `}--${name}${takes === undefined ? '' : ` ${takes}`}`
  const inEffect = configured?.get(option) ?? fallback
  const notes = [
    ...(values === undefined ? [] : [`One of ${values.join(', ')}.`]),
    ...(repeatable === true ? ['Repeatable.'] : []),
    ...(aliases.length === 0 ? [] : [`Also ${aliases.map((alias) => `--${alias}`).join(', ')}.`]),
    ...(inEffect === undefined ? [] : [`Default: ${inEffect}.`]),
    ...(isFromEnvironment(option, option.environmentCommands?.[0] ?? '') ? [`[${variableOf(option)}]`] : []),
  ]
  return [names, [option.summary, ...notes].join(' ')]
}

/** A broken configuration must not prevent the help that explains it. */
function configuredDefaults(command: string, own: readonly OptionSpec[], { terminal, args }: HelpOptions): Configured {
  const options = [...own, ...globalOptions].filter(({ isSecret }) => isSecret !== true)
  try {
    const files = readConfigFiles(terminal, configOption(args, terminal.environment))
    const given = { options: [], operands: [] }
    const { all } = resolveSettings({ options, command, args: given, environment: terminal.environment, files })
    return new Map(
      options.flatMap((option, index) => {
        const { values = [], source = { kind: 'default' } } = all[index] ?? {}
        if (source.kind !== 'environment' && source.kind !== 'file') return []
        return [[option, `${values.join(',')} (from ${source.kind === 'file' ? source.path : source.variable})`]]
      }),
    )
  } catch {
    return new Map()
  }
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
