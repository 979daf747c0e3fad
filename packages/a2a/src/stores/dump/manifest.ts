/** What the header of a backup says beyond that of an export: where the dump came from, and which keys it contains. */
import { createHmac } from 'node:crypto'
import type { StoreKind, StoreReader } from './store-dump.ts'

export const dumpFormat = 'parley-dump'
/** Raised with every change of the lines that an older program would misread. */
export const dumpVersion = 1

/**
 * Which keys a backup contains. `wrapped`: the keys of the keyring, which are of no use without the master key. `full`: the master key
 * too, so that the file alone is enough to read all secrets. `none`: no keys.
 */
export type BackupKeyring = 'wrapped' | 'full' | 'none'

/** What a backup says of itself at its start. */
export interface BackupManifest {
  readonly format: typeof dumpFormat
  readonly version: number
  /** Where the feed of the store ended. */
  readonly position: number
  /** The version of the program that wrote it. */
  readonly program: string
  readonly store: StoreKind
  readonly schemaVersion: number
  /** When the store was read, as a timestamp in ISO 8601. */
  readonly createdAt: string
  readonly keyring: BackupKeyring
  /** Tells whether a master key is the one that wrapped the keys, without telling the key. Absent: it was not known. */
  readonly masterKeyCheck?: string
}

/** Makes a backup of a dump. */
export interface BackupOptions {
  /** The version of the program, for the manifest. */
  readonly program: string
  /** When the reader was opened, in milliseconds since the epoch. */
  readonly createdAt: number
  /** Default `wrapped`. */
  readonly keyring?: BackupKeyring
  /** Required for `full`. Otherwise it only adds `masterKeyCheck` to the manifest. */
  readonly masterKey?: Uint8Array | undefined
}

export function createManifest(
  { kind, schemaVersion, position }: StoreReader,
  { program, createdAt, keyring = 'wrapped', masterKey }: BackupOptions,
): BackupManifest {
  if (keyring === 'full' && masterKey === undefined)
    throw new Error('A backup with the full keyring needs the master key')
  return {
    format: dumpFormat,
    version: dumpVersion,
    position,
    program,
    store: kind,
    schemaVersion,
    createdAt: new Date(createdAt).toISOString(),
    keyring,
    ...(masterKey === undefined || keyring === 'none' ? {} : { masterKeyCheck: masterKeyCheck(masterKey) }),
  }
}

/** Whether a master key can unwrap the keys of a backup; `undefined` if the backup does not tell. */
export function isMasterKeyOf(manifest: BackupManifest, masterKey: Uint8Array): boolean | undefined {
  const { masterKeyCheck: expected } = manifest
  return expected === undefined ? undefined : expected === masterKeyCheck(masterKey)
}

/** Eight bytes that belong to a master key and do not tell it. */
function masterKeyCheck(masterKey: Uint8Array): string {
  return createHmac('sha256', masterKey).update('parley backup').digest('hex').slice(0, 16)
}
