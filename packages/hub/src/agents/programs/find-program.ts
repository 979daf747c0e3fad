/** Checks that a program exists and is executable, without running it. */
import { constants, statSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { commandNotFound, DiagnosedError, fileNotFound, notExecutable } from '../detect/diagnosis.ts'

export interface ProgramSearchPath {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** The path at which the system would find it, or undefined. */
export async function findProgram(program: string, { cwd, env }: ProgramSearchPath): Promise<string | undefined> {
  const places = program.includes('/') ? [''] : (env['PATH'] ?? '').split(delimiter)
  for (const place of places) {
    const file = isAbsolute(program) ? program : resolve(cwd, join(place, program))
    const may = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (may) return file
  }
  return undefined
}

/** Throws DiagnosedError. */
export async function requireProgram(program: string, where: ProgramSearchPath): Promise<void> {
  if ((await findProgram(program, where)) !== undefined) return
  const file = resolve(where.cwd, program)
  if (program.includes('/') && statSync(file, { throwIfNoEntry: false })?.isFile() === true) {
    const diagnosis = notExecutable(program, file)
    throw new DiagnosedError(`the program ${diagnosis.title}. ${diagnosis.advice.replace(/\.$/, '')}`, diagnosis)
  }
  const diagnosis = program.includes('/') ? fileNotFound(program, where.cwd) : commandNotFound(program)
  throw new DiagnosedError(`the program ${program} does not exist`, diagnosis)
}
