/**
 * Opens a store together with the master key that wraps its keys at that moment. While the master key is rotated, that may be another
 * one than the hub would use first: a backup with the wrong one could never be read.
 */
import { checkKey, type StoreReader } from '@parley/a2a/internal'
import type { WholeStore } from './whole-store.ts'

export interface ReaderWithKey {
  readonly reader: StoreReader
  /** `undefined` if the store has none. */
  readonly masterKey: Uint8Array | undefined
  /** How many keys it does not unwrap. */
  readonly foreignKeys: number
  /** Whether the master key is not the one of this store: it unwraps none of the keys. */
  readonly isForeign: boolean
}

export async function openWithMasterKey(store: Pick<WholeStore, 'reader' | 'masterKeys'>): Promise<ReaderWithKey> {
  // Before and after the moment of the reader: a rotation in between removes the old key, or creates the new one.
  const before = store.masterKeys()
  const reader = await store.reader()
  try {
    const candidates = [...store.masterKeys(), ...before]
    const keys = await reader.keys()
    let best: Pick<ReaderWithKey, 'masterKey' | 'foreignKeys'> = { masterKey: undefined, foreignKeys: keys.length }
    for (const masterKey of candidates) {
      const damages = await Promise.all(keys.map((key) => checkKey(key, masterKey)))
      const foreignKeys = damages.filter((damage) => damage !== undefined).length
      if (best.masterKey === undefined || foreignKeys < best.foreignKeys) best = { masterKey, foreignKeys }
      if (foreignKeys === 0) break
    }
    return { reader, ...best, isForeign: keys.length > 0 && best.foreignKeys === keys.length }
  } catch (error) {
    await reader.close()
    throw error
  }
}
