/** Checks a key of the keyring without the keyring: whether the master key unwraps it. */
import { openKeyring } from '../../engine/keys/keyring.ts'

type KeyRow = Awaited<ReturnType<Parameters<typeof openKeyring>[0]['list']>>[number]

/** Returns what is wrong with a stored key, as a sentence, or `undefined` if the master key unwraps it. */
export async function checkKey(key: KeyRow, masterKey: Uint8Array): Promise<string | undefined> {
  const alone = { list: async () => [key], save: async () => {}, delete: async () => {} }
  try {
    await openKeyring(alone, masterKey)
    return undefined
  } catch (reason) {
    return reason instanceof Error ? reason.message : String(reason)
  }
}
