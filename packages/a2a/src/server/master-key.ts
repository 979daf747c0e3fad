/** The master key is checked before anything else is opened: with a wrong one nothing that was sealed can be read. */
import { openKeyring } from '../engine/keyring.ts'
import { ConfigError } from './config-error.ts'
import type { HandlerOptions } from './options.ts'

/** Made at the first start, so that there is always a key that shows whether the master key is the same. */
const purpose = 'master-key-check'

/**
 * Rejects with a `ConfigError` if the keys in the store were wrapped by another master key. `createHandler` makes the same
 * check when it starts; call this to know before you open what depends on the keys.
 */
export async function verifyMasterKey(store: HandlerOptions['store']): Promise<void> {
  const masterKey = orRefuse(() => store.masterKey?.())
  if (masterKey === undefined) return
  // Read before: a database that cannot be reached is not the fault of the key.
  const rows = await store.listKeys()
  const unchanging = { listKeys: async () => rows, saveKey: async () => {}, deleteKey: async () => {} }
  await openKeyring(unchanging, masterKey).catch(refuse)
  if (rows.length > 0) return
  const keyring = await openKeyring(store, masterKey)
  await keyring.sign(purpose, '')
}

function orRefuse<Result>(run: () => Result): Result {
  try {
    return run()
  } catch (reason) {
    return refuse(reason)
  }
}

function refuse(reason: unknown): never {
  const refused = new ConfigError('masterKey', reason instanceof Error ? reason.message : String(reason))
  refused.cause = reason
  throw refused
}
