/** All commands, and how one is found among them and told what it was given. */
import { parseArgs } from 'node:util'
import { agentAdd } from './agent-add.ts'
import { Complaint } from './command.ts'
import type { Command, Flags } from './command.ts'
import { configCheck, configJsonSchema, configPrint } from './config-commands.ts'
import { keyCreate, keyList, keyRevoke } from './key-commands.ts'
import { mcp } from './mcp.ts'
import { sessionEnd, sessionList } from './session-commands.ts'
import { up } from './up.ts'

export const commands: readonly Command[] = [
  up,
  configCheck,
  configPrint,
  configJsonSchema,
  agentAdd,
  keyCreate,
  keyList,
  keyRevoke,
  sessionList,
  sessionEnd,
  mcp,
]

export interface Chosen {
  readonly command: Command
  readonly rest: readonly string[]
}

/** What is called without a word starts the hub. */
export function choose(args: readonly string[]): Chosen {
  const [first] = args
  if (first === undefined || first.startsWith('-')) return { command: up, rest: args }
  const command = commands.find(({ name }) => name.split(' ').every((word, index) => args[index] === word))
  if (command !== undefined) return { command, rest: args.slice(command.name.split(' ').length) }
  const family = commands.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) => name)
  if (family.length > 0) throw new Complaint(`Say ${family.map((name) => `\`parley ${name}\``).join(', ')}.`)
  throw new Complaint(`There is no command ${first}: see \`parley help\`.`)
}

export function flagsOf({ name: command, flags, takesCommand, takes }: Command, args: readonly string[]): Flags {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: flags,
      allowPositionals: takes !== undefined,
    })
    const all = (name: string): readonly unknown[] => [values[name] ?? []].flat()
    return {
      text: (name) => all(name).find((value) => typeof value === 'string'),
      texts: (name) => all(name).filter((value) => typeof value === 'string'),
      has: (name) => values[name] === true,
      words: positionals,
    }
  } catch (reason) {
    // The parser's own sentences are about the flag that is wrong.
    const [, unknown] = /^Unknown option '([^']+)'/.exec((reason as Error).message) ?? []
    if (unknown === undefined) throw new Complaint((reason as Error).message.split('\n')[0])
    throw new Complaint(
      takesCommand === true
        ? `Unknown option '${unknown}'. A command with flags of its own stands behind --: parley ${command} -- <command…>`
        : `Unknown option '${unknown}': see \`parley help ${command}\`.`,
    )
  }
}
