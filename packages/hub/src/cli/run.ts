/** Runs a command line of `parley`: arguments in, exit code out. Loads only the module of the command that runs. */
import { hasGiven, parseCommandLine, requireCommand } from '@parley/cli/internal'
import { hubVersion } from '../config/hub-version.ts'
import { CliError, exitCodes, flagsOf, usageError, type Command, type Flags, type ProcessTerminal } from './command.ts'
import { commands, otherCommands, overrideOptions, program } from './commands.ts'
import { neutralizing, wrappedLine } from './output.ts'

/** Without a command the hub starts. */
export async function runCli(args: readonly string[], terminal: ProcessTerminal): Promise<number> {
  try {
    const [first = '--', ...rest] = args
    if (['--version', '-v', '-V'].includes(first)) return printLines(terminal, [hubVersion()])
    if (['help', '--help', '-h'].includes(first)) return printLines(terminal, helpLines(rest))
    const line = parseCommandLine(first.startsWith('-') ? ['up', ...args] : args, program)
    if (hasGiven(line.args, 'version')) return printLines(terminal, [hubVersion()])
    if (hasGiven(line.args, 'help')) return printLines(terminal, helpLines(line.words))
    const command = requireCommand(line, program)
    const flags = flagsOf(line.args)
    // Before the command has done anything: a key that was created is shown only once.
    checkValues(command, flags)
    const run = await command.load()
    return await run(flags, neutralizing(terminal))
  } catch (reason) {
    const { printError } = neutralizing(terminal)
    for (const line of (await errorText(reason)).split('\n')) printError(line)
    return reason instanceof CliError ? reason.exitCode : exitCodes.failure
  }
}

/** Throws a usage error for a value that the option does not allow. */
function checkValues({ options }: Command, flags: Flags): void {
  for (const { name, values } of options)
    for (const value of flags.values(name))
      if (values?.includes(value) === false)
        throw usageError(`--${name}: ${JSON.stringify(value)} is none of ${values.join(', ')}.`)
}

function printLines({ print, columns }: ProcessTerminal, lines: readonly string[]): number {
  for (const line of lines.flatMap((one) => wrappedLine(one, columns))) print(line)
  return 0
}

/** A usage error prints its message; an unexpected error prints its stack. */
async function errorText(reason: unknown): Promise<string> {
  if (reason instanceof CliError) return reason.message
  // Loaded here only: it brings the server along.
  const { ConfigError } = await import('@parley/a2a/server')
  if (reason instanceof ConfigError && 'port' in reason) {
    const flag = reason.path === 'grpcPort' ? '--grpc-port' : '--port'
    return (await import('./port-check.ts')).portInUseText(Number(reason.port), flag)
  }
  if (reason instanceof ConfigError) return reason.message
  if (!(reason instanceof Error)) return String(reason)
  if ('code' in reason && ['EACCES', 'EPERM', 'EROFS'].includes(String(reason.code)))
    return `${reason.message}: choose another folder, or change its permissions.`
  return 'code' in reason || reason.name === 'A2AError' ? reason.message : (reason.stack ?? reason.message)
}

/** The help of a command, of a group of commands, or the list of all. */
function helpLines(words: readonly string[]): readonly string[] {
  const query = words.join(' ')
  const about = commands.filter(({ name }) => query !== '' && (name === query || name.startsWith(`${query} `)))
  if (about.length > 0) return about.flatMap(commandHelp)
  const rows = [...commands, ...otherCommands].map((command) => [usage(command), command.summary] as const)
  const width = Math.max(...rows.map(([name]) => name.length))
  return [
    'parley: any agent you already run becomes an A2A agent.',
    '',
    ...[...rows, ['--version', 'Shows the version.'] as const].map(
      ([name, summary]) => `  parley ${name.padEnd(width)}  ${summary}`,
    ),
    '',
    'Exit codes: 0 success, 1 failure, 2 usage, 3 hub unreachable, 4 not authorized, 5 timeout.',
  ]
}

function usage({ name, operands }: Pick<Command, 'name' | 'operands'>): string {
  return operands === undefined ? name : `${name} ${operands}`
}

/** The width of the names of most options. */
const nameWidth = 22

function commandHelp({ details = [], options, summary, ...command }: Command): readonly string[] {
  const rows = options
    .filter((option) => !overrideOptions.includes(option))
    .map(({ name, short, takes, summary: about }) => {
      const names = `${short === undefined ? '' : `-${short}, `}--${name}${takes === undefined ? '' : ` ${takes}`}`
      return `${names.padEnd(nameWidth)}  ${about}`
    })
  const overrides = overrideOptions.filter((option) => options.includes(option)).map(({ name }) => `--${name}`)
  const lines = overrides.length === 0 ? rows : [...rows, `${overrides.join(', ')}   Override the configuration.`]
  return [`parley ${usage(command)}`, ...[summary, ...details, ...lines].map((line) => `  ${line}`), '']
}
