/** `parley init`: writes a new project. The template is that of `npm create parley`. */
import { resolve } from 'node:path'
import { CliError, usageError, type Command } from './command.ts'
import { outputDetails, outputFlags, printResult } from './output.ts'

export const initCommand: Command = {
  name: 'init',
  takes: '[folder]',
  summary: 'Writes a new project: an agent, its test and parley.yaml.',
  details: [
    'The folder is created if it is missing. Default: this folder. Existing files are never overwritten.',
    '--framework <name>   ai-sdk, langgraph, mastra, openai-agents or claude: the agent is one of that framework.',
    ...outputDetails,
  ],
  flags: { framework: { type: 'string' }, ...outputFlags },
  async run(flags, terminal) {
    const { cwd } = terminal
    const [folder = '.', ...more] = flags.positionals
    if (more.length > 0) throw usageError('`parley init` takes one folder.')
    const { createProject, nextSteps, parseFramework, ProjectError } = await import('create-parley')
    try {
      const framework = flags.value('framework')
      const options = framework === undefined ? {} : { framework: parseFramework(framework) }
      const project = await createProject(resolve(cwd, folder), options)
      printResult(flags, terminal, project, () => nextSteps(project, cwd))
      return 0
    } catch (reason) {
      throw reason instanceof ProjectError ? new CliError(reason.message) : reason
    }
  },
}
