/** The command without the process: arguments in, exit code out. */
import { resolve } from 'node:path'
import { createProject, frameworks, nextSteps, packageVersion, parseFramework, ProjectError } from './index.ts'

/** What the command needs of the process. */
export interface CreateTerminal {
  readonly cwd: string
  print(line: string): void
  printError(line: string): void
}

const help = [
  'npm create parley [folder] [-- --framework <name>]',
  '  Writes a new project: an A2A agent, its test, and the configuration of a hub that serves it.',
  '  folder       Created if it is missing. Default: this folder.',
  `  --framework  The agent is one of a framework: ${Object.keys(frameworks).join(', ')}. Default: a function.`,
  '  --version    Shows the version.',
]

export async function runCreate(args: readonly string[], { cwd, print, printError }: CreateTerminal): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) return printLines(help)
  if (args[0] === '--version' || args[0] === '-v') return printLines([packageVersion()])
  const at = args.findIndex((argument) => /^--framework(=|$)/.test(argument))
  const isSeparate = args[at] === '--framework'
  const framework = at < 0 ? undefined : isSeparate ? (args[at + 1] ?? '') : args[at]?.slice('--framework='.length)
  const others = at < 0 ? args : args.toSpliced(at, isSeparate ? 2 : 1)
  const [folder = '.', ...more] = others
  const unknown = others.find((argument) => argument.startsWith('-')) ?? more[0]
  if (unknown !== undefined) {
    printError(`Unexpected argument ${unknown}. Usage: npm create parley [folder] [-- --framework <name>]`)
    return 2
  }
  try {
    const options = framework === undefined ? {} : { framework: parseFramework(framework) }
    return printLines(nextSteps(await createProject(resolve(cwd, folder), options), cwd))
  } catch (reason) {
    if (!(reason instanceof ProjectError)) throw reason
    printError(reason.message)
    return 1
  }

  function printLines(lines: readonly string[]): number {
    for (const line of lines) print(line)
    return 0
  }
}
