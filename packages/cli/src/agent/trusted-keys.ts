/** The file of `--trusted-keys`: a JSON Web Key Set, or one key. */
import { type JsonWebKeySet, isStruct } from '@parley/a2a/internal'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { usageError } from '../output/cli-error.ts'
import { fileErrorText } from '../output/file-error.ts'

export async function readTrustedKeys(file: string, cwd: string): Promise<JsonWebKeySet> {
  let given: unknown
  try {
    given = JSON.parse(await readFile(resolve(cwd, file), 'utf8'))
  } catch (cause) {
    throw usageError(
      `--trusted-keys ${file}: ${cause instanceof SyntaxError ? cause.message : `${fileErrorText(cause)}.`}`,
    )
  }
  const keys: unknown = isStruct(given) && 'keys' in given ? given['keys'] : [given]
  if (!Array.isArray(keys) || !keys.every(isStruct))
    throw usageError(`--trusted-keys ${file}: must be a JSON Web Key Set.`)
  return { keys }
}
