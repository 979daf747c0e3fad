/** All commands, and how arguments select and parse one. */
import { parseArgs } from 'node:util'
import { agentAdd } from './agent-add.ts'
import { CliError, type Command, type Flags } from './command.ts'
import { configCheck, configJsonSchema, configPrint } from './config-commands.ts'
import { keyCreate, keyList, keyRevoke, sessionEnd, sessionList } from './credential-commands.ts'
import { mcpCommand } from './mcp-command.ts'
import { upCommand } from './up.ts'

export const commands: readonly Command[] = [
  upCommand,
  configCheck,
  configPrint,
  configJsonSchema,
  agentAdd,
  keyCreate,
  keyList,
  keyRevoke,
  sessionList,
  sessionEnd,
  mcpCommand,
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
  const subcommands = commands.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) => name)
  if (subcommands.length > 0) throw new CliError(`Say ${subcommands.map((name) => `\`parley ${name}\``).join(', ')}.`)
  throw new CliError(`There is no command ${first}: see \`parley help\`.`)
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
    if (unknown === undefined) throw new CliError((reason as Error).message.split('\n')[0])
    throw new CliError(
      acceptsCommand === true
        ? `Unknown option '${unknown}'. Put a command with its own flags after --: parley ${command} -- <command…>`
        : `Unknown option '${unknown}': see \`parley help ${command}\`.`,
    )
  }
}
