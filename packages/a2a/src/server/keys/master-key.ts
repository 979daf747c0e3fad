/** Checks the master key before anything else is opened: with a wrong one no encrypted value can be read. */
import { checkPurpose, openKeyring } from '../../engine/keys/keyring.ts'
import type { Sealer } from '../../engine/contract.ts'
import type { MasterKeys } from '../../engine/keys/key-wrapping.ts'
import { ConfigError } from '../config-error.ts'
import type { Store } from '../options.ts'

/**
 * Rejects with a `ConfigError` if the keys in the store were wrapped by another master key. `createHandler` makes the same
 * check when it starts; call this to fail before you open what depends on the keys.
 */
export async function verifyMasterKey(store: Store): Promise<void> {
  if (orRefuse(() => store.keys.masterKey?.()) === undefined) return
  const masterKeys = masterKeysOf(store.keys)
  // Read first: an unreachable database must not be reported as a wrong key.
  const rows = await store.keys.list()
  const unchanging = { list: async () => rows, save: async () => {}, delete: async () => {} }
  await openKeyring(unchanging, masterKeys).catch(refuse)
  if (rows.length > 0) return
  // The first start creates a key, so that there is always one to check the master key against.
  const keyring = await openKeyring(store.keys, masterKeys)
  await keyring.sign(checkPurpose, '')
}

/**
 * Seals and unseals as `handler.secrets` does, before there is a server: for what the server itself is started with. Do not keep it,
 * because it does not follow a rotation of the master key.
 */
export async function openSealer(store: Store): Promise<Sealer> {
  const { seal, unseal } = await openKeyring(store.keys, masterKeysOf(store.keys))
  return { seal, unseal }
}

/** The master keys of a store as they are now; `undefined` if it keeps its keys unencrypted. */
export function masterKeysOf(keys: Store['keys']): (() => MasterKeys) | undefined {
  if (keys.masterKey === undefined) return undefined
  return () => ({ current: keys.masterKey?.() as Uint8Array, others: keys.otherMasterKeys?.() ?? [] })
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

// Checks a key of the keyring without the keyring: whether the master key unwraps it.

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
