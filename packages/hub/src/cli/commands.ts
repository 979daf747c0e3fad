/** All commands, and how one is found among them and told what it was given. */
import { parseArgs } from 'node:util'
import { agentAdd } from './agent-add.ts'
import { Complaint } from './command.ts'
import type { Command, Flags } from './command.ts'
import { configCheck, configJsonSchema, configPrint } from './config-commands.ts'
import { keyCreate, keyList, keyRevoke } from './key-commands.ts'
import { mcp } from './mcp.ts'
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

export function flagsOf({ flags, takesRest, takes }: Command, args: readonly string[]): Flags {
  const [own, rest] = takesRest === true ? split(args, flags) : [args, []]
  try {
    const { values, positionals } = parseArgs({
      args: [...own],
      options: flags,
      allowPositionals: takes !== undefined && takesRest !== true,
    })
    const all = (name: string): readonly unknown[] => [values[name] ?? []].flat()
    return {
      text: (name) => all(name).find((value) => typeof value === 'string'),
      texts: (name) => all(name).filter((value) => typeof value === 'string'),
      has: (name) => values[name] === true,
      words: [...positionals, ...rest],
    }
  } catch (reason) {
    // The parser's own sentences are about the flag that is wrong.
    throw new Complaint((reason as Error).message.split('\n')[0])
  }
}

/** Flags stand before the first word: what comes after it may be flags of another program. */
function split(args: readonly string[], flags: Command['flags']): [readonly string[], readonly string[]] {
  let at = 0
  while (args[at]?.startsWith('-') === true && args[at] !== '--') {
    const word = args[at] ?? ''
    const named = Object.entries(flags).find(([name, { short }]) => word === `--${name}` || word === `-${short}`)
    at += named?.[1].type === 'string' ? 2 : 1
  }
  return [args.slice(0, at), args.slice(args[at] === '--' ? at + 1 : at)]
}
