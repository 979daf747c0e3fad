/** `a2a completion <shell>`: a script that completes commands, options and their values. */
import { versionIds } from '@parley/a2a/internal'
import { globalOptions } from '../args/global-options.ts'
import type { CommandContext } from '../command.ts'
import { completionScript, shells } from '../completion.ts'
import { usageError } from '../output/cli-error.ts'

export async function run({ args, commands, terminal }: CommandContext): Promise<void> {
  const [typed = ''] = args.operands
  const shell = shells.find((one) => one === typed)
  if (shell === undefined) throw usageError(`Unknown shell "${typed}".`, `The shells are ${shells.join(', ')}.`)
  const options = globalOptions.map((option) =>
    option.takes === '<version>' ? { ...option, values: versionIds } : option,
  )
  await terminal.write(`${completionScript(shell, { program: 'a2a', commands, globalOptions: options })}\n`)
}
