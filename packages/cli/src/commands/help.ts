/** `a2a help` and `--help`: the list of commands, a group of them, or one command with its options. */
import { configOption, readConfigFiles } from '../args/config-files.ts'
import { globalOptions, isFromEnvironment, variableOf } from '../args/global-options.ts'
import { nearestName } from '@parley/a2a/command-line'
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
  // A reader of a pipe wraps, or searches, whole lines itself.
  const width = terminal.isOutputTerminal ? (terminal.columns ?? 80) : Infinity
  const text = helpText(commands, args.operands, { terminal, args })
  await terminal.write(`${text.flatMap((line) => layOut(line, width)).join('\n')}\n`)
}

interface HelpOptions {
  readonly terminal: Pick<Terminal, 'program' | 'environment' | 'cwd' | 'home'>
  /** Of this run: `--config` changes defaults. */
  readonly args: ParsedArgs
}

/** What the environment and the files set instead of a default, by option, with its source. */
type Configured = ReadonlyMap<OptionSpec, string>

/** The help of these words, with the defaults in effect. Throws a usage error if they begin no command. */
function helpText(commands: readonly Command[], words: readonly string[], options: HelpOptions): readonly HelpLine[] {
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

function overview(commands: readonly Command[], program: string, configured: Configured): readonly HelpLine[] {
  return [
    'Calls agents that support the A2A protocol.',
    '',
    `Usage: ${program} <command> [options]`,
    '',
    'Commands:',
    { rows: commands.map((command) => [usage(command), command.summary]) },
    '',
    'Global options:',
    { rows: globalOptions.map((option) => optionRow(option, configured)) },
    '',
    'Each option that is not about one call has a variable: A2ACLI_POLL_INTERVAL is --poll-interval. Lists are separated by commas.',
    'Precedence: command line, environment, the nearest .env file or --config, ~/.config/a2a-cli/.env, default.',
    '',
    'Exit codes: 0 answered, 1 failure or error of the agent, 2 usage, 3 unreachable or no card, 4 credentials, 5 timeout; with --exit-status also 1 task without success, 6 task that waits.',
    '',
    `See \`${program} help <command>\` for the options of a command.`,
  ]
}

function groupHelp(group: string, commands: readonly Command[], program: string): readonly HelpLine[] {
  return [
    `Usage: ${program} ${group} <command> [options]`,
    '',
    'Commands:',
    { rows: commands.map((command) => [usage(command), command.summary]) },
    '',
    `See \`${program} help <command>\` for the options of a command.`,
  ]
}

function commandHelp(command: Command, program: string, configured: Configured): readonly HelpLine[] {
  const { summary, details = [], options, examples, aliases = [] } = command
  return [
    summary,
    ...details.flatMap((paragraph) => ['', withProgram(paragraph, program)]),
    '',
    `Usage: ${program} ${usage(command)} [options]`,
    ...(aliases.length === 0 ? [] : [`Aliases: ${aliases.join(', ')}`]),
    ...(options.length === 0 ? [] : ['', 'Options:', { rows: options.map((option) => optionRow(option, configured)) }]),
    ...globalOptionsHelp(command, program, configured),
    '',
    'Examples:',
    { verbatim: examples.map((example) => `  ${withProgram(example, program)}`) },
  ]
}

/** The global options that matter for the command, and those that the environment or a file sets. `a2a help` has the others. */
function globalOptionsHelp(command: Command, program: string, configured: Configured): readonly HelpLine[] {
  const usesAgent = command.usesAgent !== false
  const described = globalOptions.filter(
    (option) => command.globalOptions.includes(option.name) || (usesAgent && configured.has(option)),
  )
  return [
    ...(described.length === 0
      ? []
      : ['', 'Global options:', { rows: described.map((option) => optionRow(option, configured)) }]),
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

/** A paragraph, a table of two columns, or lines that are copied as they are: commands. */
type HelpLine =
  | string
  | { readonly rows: readonly (readonly [string, string])[] }
  | { readonly verbatim: readonly string[] }

/** A longer line of a wide terminal would be hard to read. */
const maxLineWidth = 110

function layOut(line: HelpLine, columns: number): readonly string[] {
  const width = columns === Infinity ? Infinity : Math.min(columns, maxLineWidth)
  if (typeof line === 'string') return wrap(line, width)
  return 'verbatim' in line ? line.verbatim : table(line.rows, width)
}

/** The second column is wrapped. A first column that is too wide has a line of its own; in a narrow terminal each has. */
function table(rows: readonly (readonly [string, string])[], lineWidth: number): readonly string[] {
  const isNarrow = lineWidth < 70
  const width = isNarrow ? 4 : Math.min(34, Math.max(...rows.map(([first]) => first.length)))
  return rows.flatMap(([first, second]) => {
    const wrapped = wrap(second, lineWidth - width - 4)
    const indented = wrapped.map((line) => `  ${' '.repeat(width)}  ${line}`)
    if (isNarrow || first.length > width) return [`  ${first}`, ...indented]
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
