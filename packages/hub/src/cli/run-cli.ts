/** Runs the CLI: arguments in, exit code out. */
import { ConfigError } from '@parley/a2a/server'
import { hubVersion } from '../config/hub-version.ts'
import { CliError, type Terminal, type Command } from './command.ts'
import { chooseCommand, commands, parseFlags } from './commands.ts'

export async function runCli(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    const [first, ...rest] = args
    if (first === '--version' || first === '-v') return printLines(terminal, [hubVersion()])
    if (first === 'help' || first === '--help' || first === '-h') return printLines(terminal, helpLines(commands, rest))
    const { command, rest: commandArgs } = chooseCommand(args)
    const ownArgs = commandArgs.slice(0, commandArgs.includes('--') ? commandArgs.indexOf('--') : commandArgs.length)
    if (ownArgs.includes('--help') || ownArgs.includes('-h')) {
      return printLines(terminal, helpLines(commands, command.name.split(' ')))
    }
    return await command.run(parseFlags(command, commandArgs), terminal)
  } catch (reason) {
    for (const line of errorText(reason).split('\n')) terminal.printError(line)
    return 1
  }
}

function printLines({ print }: Terminal, lines: readonly string[]): number {
  for (const line of lines) print(line)
  return 0
}

/** A usage error prints its message; an unexpected error prints its stack. */
function errorText(reason: unknown): string {
  if (reason instanceof ConfigError && 'port' in reason) {
    const flag = reason.path === 'grpcPort' ? '--grpc-port' : '--port'
    return `Port ${String(reason.port)} is already in use: choose another with ${flag}.`
  }
  if (reason instanceof CliError || reason instanceof ConfigError) return reason.message
  if (!(reason instanceof Error)) return String(reason)
  return 'code' in reason || reason.name === 'A2AError' ? reason.message : (reason.stack ?? reason.message)
}

/** The output of `parley help`. */
function helpLines(commands: readonly Command[], words: readonly string[]): readonly string[] {
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
