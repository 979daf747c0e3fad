/** Whether a program is there and may be run, without running it. */
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { delimiter, isAbsolute, join, resolve } from 'node:path'

export interface Where {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** Where the system would find it, if it would. */
export async function findProgram(program: string, { cwd, env }: Where): Promise<string | undefined> {
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

export async function checkProgram(program: string, where: Where): Promise<void> {
  if ((await findProgram(program, where)) === undefined) throw new Error(`the program ${program} is not there`)
}
