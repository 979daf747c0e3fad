/** From words to an exit code. */
import { ConfigError } from '@parley/a2a/server'
import { hubVersion } from '../hub-version.ts'
import { Complaint } from './command.ts'
import type { Terminal } from './command.ts'
import { choose, commands, flagsOf } from './commands.ts'
import { helpOf } from './help.ts'

export async function runCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    const [first, ...rest] = args
    if (first === '--version' || first === '-v') return told(terminal, [hubVersion()])
    if (first === 'help' || first === '--help' || first === '-h') return told(terminal, helpOf(commands, rest))
    const { command, rest: own } = choose(args)
    const ours = own.slice(0, own.includes('--') ? own.indexOf('--') : own.length)
    if (ours.includes('--help') || ours.includes('-h')) {
      return told(terminal, helpOf(commands, command.name.split(' ')))
    }
    return await command.run(flagsOf(command, own), terminal)
  } catch (reason) {
    terminal.complain(sentenceOf(reason))
    return 1
  }
}

function told({ say }: Terminal, lines: readonly string[]): number {
  for (const line of lines) say(line)
  return 0
}

/** A mistake of whoever called is a sentence; of anything else the whole is worth knowing. */
function sentenceOf(reason: unknown): string {
  if (reason instanceof ConfigError && 'port' in reason) {
    const flag = reason.path === 'grpcPort' ? '--grpc-port' : '--port'
    return `Port ${String(reason.port)} is already in use: choose another with ${flag}.`
  }
  if (reason instanceof Complaint || reason instanceof ConfigError) return reason.message
  if (!(reason instanceof Error)) return String(reason)
  return 'code' in reason || reason.name === 'A2AError' ? reason.message : (reason.stack ?? reason.message)
}
