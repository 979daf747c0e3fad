/** All commands, and how arguments select and parse one. */
import { parseArgs } from 'node:util'
import { agentAdd } from './agent/agent-add.ts'
import { nearestName } from '@parley/a2a/command-line'
import { agentList, agentRemove } from './agent/agent-commands.ts'
import { backupCommand, exportCommand, importCommand, restoreCommand } from './backup-commands.ts'
import { CliError, exitCodes, usageError, type Command, type Flags, type Terminal } from './command.ts'
import { auditExportCommand } from './audit-command.ts'
import { createCompletionCommand } from './completion.ts'
import { configCheck, configJsonSchema, configPrint } from './config-commands.ts'
import { keyCreate, keyList, keyRevoke, keyRotate, sessionEnd, sessionList } from './credentials/credential-commands.ts'
import { doctorCommand } from './doctor-command.ts'
import { eraseCommand } from './erase-command.ts'
import { initCommand } from './init.ts'
import { logsCommand } from './logs-command.ts'
import { mcpCommand } from './mcp-command.ts'
import { openCommand } from './open/open-command.ts'
import { neutralizing, wantsJson, wrappedLine } from './output.ts'
import { pruneCommand } from './prune-command.ts'
import { secretList, secretRemove, secretSet } from './credentials/secret-commands.ts'
import { statusCommand } from './status-command.ts'
import { upCommand } from './up.ts'
import { verifyCommand } from './verify-command.ts'
import { hubVersion } from '../config/hub-version.ts'

export const commands: readonly Command[] = [
  upCommand,
  openCommand,
  initCommand,
  statusCommand,
  logsCommand,
  doctorCommand,
  verifyCommand,
  backupCommand,
  restoreCommand,
  exportCommand,
  importCommand,
  configCheck,
  configPrint,
  configJsonSchema,
  agentAdd,
  agentList,
  agentRemove,
  keyCreate,
  keyList,
  keyRevoke,
  keyRotate,
  secretSet,
  secretList,
  secretRemove,
  sessionList,
  sessionEnd,
  pruneCommand,
  eraseCommand,
  auditExportCommand,
  mcpCommand,
  createCompletionCommand(() => commands),
]

export interface ChosenCommand {
  readonly command: Command
  readonly rest: readonly string[]
}

/** Without arguments the hub starts. */
export function chooseCommand(args: readonly string[]): ChosenCommand {
  const [first] = args
  if (first === undefined || first.startsWith('-')) return { command: upCommand, rest: args }
  const command = commands.find(({ name }) => name.split(' ').every((word, index) => args[index] === word))
  if (command !== undefined) return { command, rest: args.slice(command.name.split(' ').length) }
  const subcommands = commands.map(({ name }) => name).filter((name) => name.startsWith(`${first} `))
  if (subcommands.length > 0) throw usageError(subcommandText(first, args[1], subcommands))
  const words = [...new Set([...commands.map(({ name }) => name.split(' ')[0] ?? ''), 'help'])]
  const wanted = synonyms[first] ?? first
  const inGroups = commands.map(({ name }) => name).filter((name) => name.endsWith(` ${wanted}`))
  const nearest = inGroups.length > 0 ? inGroups.join(' or ') : nearestName(first, words)
  throw usageError(`Unknown command ${first}.${suggestionText(nearest)} See \`parley help\`.`)
}

function subcommandText(group: string, word: string | undefined, names: readonly string[]): string {
  const known = `Use ${names.map((name) => `\`parley ${name}\``).join(', ')}.`
  if (word === undefined || word.startsWith('-')) return `Missing subcommand of ${group}. ${known}`
  const own = names.map((name) => name.slice(group.length + 1))
  const nearest = nearestName(synonyms[word] ?? word, own)
  return `Unknown command ${group} ${word}.${suggestionText(nearest && `${group} ${nearest}`)} ${known}`
}

/** As other command lines call them. */
const synonyms: Readonly<Record<string, string>> = { rm: 'remove', delete: 'remove', ls: 'list' }

function suggestionText(nearest: string | undefined): string {
  return nearest === undefined ? '' : ` Did you mean ${nearest}?`
}

export function parseFlags({ name: command, flags, acceptsCommand, takes }: Command, args: readonly string[]): Flags {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: flags,
      allowPositionals: takes !== undefined,
    })
    const all = (name: string): readonly unknown[] => [values[name] ?? []].flat()
    return {
      value: (name) => all(name).find((value) => typeof value === 'string'),
      values: (name) => all(name).filter((value) => typeof value === 'string'),
      has: (name) => values[name] === true,
      positionals,
    }
  } catch (reason) {
    // The parser's own messages name the invalid flag.
    const [, unknown] = /^Unknown option '([^']+)'/.exec((reason as Error).message) ?? []
    if (unknown === undefined) throw usageError((reason as Error).message.split('\n')[0] ?? '')
    const nearest = nearestName(unknown.replace(/^-+/, ''), Object.keys(flags))
    throw usageError(
      acceptsCommand === true
        ? `Unknown option '${unknown}'. Put a command with its own flags after --: parley ${command} -- <command…>`
        : `Unknown option '${unknown}'.${suggestionText(nearest && `--${nearest}`)} See \`parley help ${command}\`.`,
    )
  }
}

/** Runs the CLI: arguments in, exit code out. */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    const [first, ...rest] = args
    if (first === '--version' || first === '-v' || first === '-V') return printLines(terminal, [hubVersion()])
    if (first === 'help' || first === '--help' || first === '-h') return printLines(terminal, helpLines(commands, rest))
    const isGroup = commands.some(({ name }) => name.startsWith(`${first} `))
    if (isGroup && (rest[0] === '--help' || rest[0] === '-h'))
      return printLines(terminal, helpLines(commands, [first ?? '']))
    const { command, rest: commandArgs } = chooseCommand(args)
    const ownArgs = commandArgs.slice(0, commandArgs.includes('--') ? commandArgs.indexOf('--') : commandArgs.length)
    if (ownArgs.includes('--help') || ownArgs.includes('-h')) {
      return printLines(terminal, helpLines(commands, command.name.split(' ')))
    }
    const flags = parseFlags(command, commandArgs)
    // Before the command has done anything: a key that was created is shown only once.
    if ('output' in command.flags) wantsJson(flags)
    return await command.run(flags, neutralizing(terminal))
  } catch (reason) {
    const { printError } = neutralizing(terminal)
    for (const line of (await errorText(reason)).split('\n')) printError(line)
    return reason instanceof CliError ? reason.exitCode : exitCodes.failure
  }
}

function printLines({ print, columns }: Terminal, lines: readonly string[]): number {
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
    // main.ts runs it, without the commands of the hub.
    `  parley ${'a2a <command>'.padEnd(width)}  Calls and checks A2A agents. \`parley a2a --help\` lists its commands.`,
    `  parley ${'help [command]'.padEnd(width)}  Shows the help of a command.`,
    `  parley ${'--version'.padEnd(width)}  Shows the version.`,
    '',
    'Exit codes: 0 success, 1 failure, 2 usage, 3 hub unreachable, 4 not authorized, 5 timeout.',
  ]
}

function usage({ name, takes }: Command): string {
  return takes === undefined ? name : `${name} ${takes}`
}

function commandHelp(command: Command): readonly string[] {
  return [`parley ${usage(command)}`, `  ${command.summary}`, ...(command.details ?? []).map((line) => `  ${line}`), '']
}
