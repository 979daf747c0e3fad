/** The file that a command of a whole store reads or writes, and texts about what it contains. */
import { resolve } from 'node:path'
import type { DumpCounts } from '@parley/a2a/internal'
import { counted } from '../output.ts'
import type { Flags, Terminal } from '../command.ts'

/** The path from the command line; `-` stays. */
export function pathArgument({ positionals: [file = ''] }: Flags, { cwd }: Pick<Terminal, 'cwd'>): string {
  return file === '-' ? file : resolve(cwd, file)
}

export function contentText({ task, log, blob, kv }: DumpCounts): string {
  const files = blob === 0 ? '' : `, ${counted(blob, 'large file')}`
  return `${counted(task, 'task')} with ${counted(log, 'append')}${files}, ${counted(kv, 'key-value entry', 'key-value entries')}`
}
