/** `a2a completion <shell>`: a script that completes commands, options and their values. */
import type { CommandContext } from '../command.ts'
import { usageError } from '../output/cli-error.ts'
import { bashScript } from './completion/bash.ts'
import { completionTable } from './completion/completion-table.ts'
import { fishScript } from './completion/fish.ts'
import { zshScript } from './completion/zsh.ts'
import { shells } from './completion/shells.ts'

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript }

export async function run({ args, commands, terminal }: CommandContext): Promise<void> {
  const [given = ''] = args.operands
  const shell = shells.find((one) => one === given)
  if (shell === undefined) throw usageError(`Unknown shell "${given}".`, `The shells are ${shells.join(', ')}.`)
  await terminal.write(`${scripts[shell](completionTable(commands))}\n`)
}
