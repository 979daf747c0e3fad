/** `parley init`: writes a new project. The template is that of `npm create parley`. */
import { resolve } from 'node:path'
import { createProject, nextSteps, parseFramework, ProjectError } from 'create-parley'
import { CliError, type Flags, type Terminal } from './command.ts'
import { printResult } from './output.ts'

export async function writeProject(flags: Flags, terminal: Terminal): Promise<number> {
  const { cwd } = terminal
  const [folder = '.'] = flags.positionals
  try {
    const framework = flags.value('framework')
    const options = framework === undefined ? {} : { framework: parseFramework(framework) }
    const project = await createProject(resolve(cwd, folder), options)
    printResult(flags, terminal, project, () => nextSteps(project, cwd))
    return 0
  } catch (reason) {
    throw reason instanceof ProjectError ? new CliError(reason.message) : reason
  }
}
