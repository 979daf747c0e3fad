/** The command without the process: arguments in, exit code out. */
import { resolve } from 'node:path'
import { createProject, nextSteps, packageVersion, ProjectError } from './index.ts'

/** What the command needs of the process. */
export interface CreateTerminal {
  readonly cwd: string
  print(line: string): void
  printError(line: string): void
}

const help = [
  'npm create parley [folder]',
  '  Writes a new project: an A2A agent, its test, and the configuration of a hub that serves it.',
  '  folder       Created if it is missing. Default: this folder.',
  '  --version    Shows the version.',
]

export async function runCreate(args: readonly string[], { cwd, print, printError }: CreateTerminal): Promise<number> {
  const [folder = '.', ...more] = args
  if (args.includes('--help') || args.includes('-h')) return printLines(help)
  if (folder === '--version' || folder === '-v') return printLines([packageVersion()])
  const unknown = args.find((argument) => argument.startsWith('-')) ?? more[0]
  if (unknown !== undefined) {
    printError(`Unexpected argument ${unknown}. Usage: npm create parley [folder]`)
    return 2
  }
  try {
    return printLines(nextSteps(await createProject(resolve(cwd, folder)), cwd))
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
