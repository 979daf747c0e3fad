/** Checks the master key before anything else is opened: with a wrong one no encrypted value can be read. */
import { openKeyring } from '../../engine/keys/keyring.ts'
import { ConfigError } from '../config-error.ts'
import type { HandlerOptions } from '../options.ts'

/** The first start creates this key, so that there is always one to check the master key against. */
const purpose = 'master-key-check'

/**
 * Rejects with a `ConfigError` if the keys in the store were wrapped by another master key. `createHandler` makes the same
 * check when it starts; call this to fail before you open what depends on the keys.
 */
export async function verifyMasterKey(store: HandlerOptions['store']): Promise<void> {
  const masterKey = orRefuse(() => store.keys.masterKey?.())
  if (masterKey === undefined) return
  // Read first: an unreachable database must not be reported as a wrong key.
  const rows = await store.keys.list()
  const unchanging = { list: async () => rows, save: async () => {}, delete: async () => {} }
  await openKeyring(unchanging, masterKey).catch(refuse)
  if (rows.length > 0) return
  const keyring = await openKeyring(store.keys, masterKey)
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
