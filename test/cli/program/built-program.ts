/** The program `a2a` as the package ships it, built once for a state of the sources. */
import { join } from 'node:path'

const root = join(import.meta.dirname, '../../..')

/** The command that runs it, without arguments. */
export async function builtProgram(): Promise<readonly string[]> {
  return [process.execPath, '--conditions=parley-source', join(root, 'packages/cli/src/main.ts')]
}
