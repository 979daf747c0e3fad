/** The program `a2a`: its commands, in the order of the help. Their modules load when they run. */
import { globalOptions } from '../args/global-options.ts'
import type { ProgramSpec } from '../args/option.ts'
import type { Command } from '../command.ts'
import { usageError } from '../output/cli-error.ts'
import { authCommands } from './specs/auth.ts'
import { callCommands } from './specs/calls.ts'
import { conformanceCommands } from './specs/conformance.ts'
import { localCommands } from './specs/local.ts'
import { pushConfigCommands } from './specs/push-config.ts'
import { serverCommands } from './specs/server.ts'
import { skillCommands } from './specs/skill.ts'
import { taskCommands } from './specs/tasks.ts'

export const commands: readonly Command[] = [
  ...callCommands,
  ...taskCommands,
  ...pushConfigCommands,
  ...authCommands,
  ...conformanceCommands,
  ...serverCommands,
  ...skillCommands,
  ...localCommands,
]

export const program: ProgramSpec<Command> = { program: 'a2a', commands, globalOptions, usageError }
