/** The file that a command of a whole store reads or writes, and texts about what it contains. */
import { resolve } from 'node:path'
import type { DumpCounts } from '@parley/a2a/internal'
import { counted } from '../output.ts'
import { usageError, type Flags, type Terminal } from '../command.ts'

/** The path from the command line; `-` stays. */
export function pathArgument({ positionals }: Flags, { cwd }: Pick<Terminal, 'cwd'>, command: string): string {
  const [file, ...others] = positionals
  if (file === undefined) throw usageError(`Missing file: parley ${command} <file>`)
  if (others.length > 0) throw usageError(`One file at a time: parley ${command} <file>`)
  return file === '-' ? file : resolve(cwd, file)
}

export function contentText({ task, log, blob, kv }: DumpCounts): string {
  const files = blob === 0 ? '' : `, ${counted(blob, 'large file')}`
  return `${counted(task, 'task')} with ${counted(log, 'append')}${files}, ${counted(kv, 'key-value entry', 'key-value entries')}`
}
