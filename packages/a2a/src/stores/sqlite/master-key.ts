/** The master key of a keyring, in a file beside the database that only its owner may read. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { randomBytes } from 'node:crypto'
import { silentLog } from '../store-log.ts'
import { makePrivate, syncDirectory } from './private-files.ts'
import { createStoreDirectory } from './store-directory.ts'

const keyBytes = 32

/**
 * Reads the master key of a database, or creates it: `tasks.db` has `tasks.db.key`. Keep a copy, but not with the
 * backups of the database. For `:memory:` the key is as short-lived as the data. Throws if the file does not hold 32
 * bytes in base64.
 */
export function masterKeyFile(databaseFile: string): Uint8Array {
  if (databaseFile === ':memory:') return randomBytes(keyBytes)
  const file = `${databaseFile}.key`
  makePrivate([file], silentLog)
  return read(file) ?? make(file)
}

/**
 * The master keys of a database that exist now, the current one first; while it is being rotated, also the next one. Creates none.
 * A process that rotates it may rename the next one meanwhile, so that one is read first.
 */
export function existingMasterKeys(databaseFile: string): readonly Uint8Array[] {
  const next = read(`${databaseFile}.key.next`)
  const current = read(`${databaseFile}.key`)
  if (current === undefined) return []
  return next === undefined ? [current] : [current, next]
}

export interface MasterKeyFiles {
  /** Throws if the file is missing although keys in the database are wrapped by it. */
  current(hasKeys: () => boolean): Uint8Array
  others(): readonly Uint8Array[]
  /** Creates `<file>.key.next`, or returns that of an interrupted rotation: keys may already be wrapped by it. */
  createNext(): Uint8Array
  /** Makes this key, which is the current or the next one, the only one. */
  adopt(key: Uint8Array): void
}

/** The master key of a database, and the next one while it is being rotated. */
export function openMasterKeys(databaseFile: string): MasterKeyFiles {
  if (databaseFile === ':memory:') return masterKeysInMemory()
  const [file, nextFile] = [`${databaseFile}.key`, `${databaseFile}.key.next`]
  let current: Uint8Array | undefined
  return {
    current(hasKeys) {
      if (current === undefined && !existsSync(file) && hasKeys()) {
        throw new Error(`${file} is missing, and keys in the database are wrapped by it. Restore the file.`)
      }
      return (current ??= masterKeyFile(databaseFile))
    },
    others: () => [read(nextFile)].filter((key) => key !== undefined),
    createNext: () => read(nextFile) ?? make(nextFile),
    adopt(key) {
      // One rename: after a crash there is either the old key beside the next one, or the new key alone.
      if (read(nextFile)?.every((byte, at) => byte === key[at]) === true) renameSync(nextFile, file)
      else rmSync(nextFile, { force: true })
      syncDirectory(dirname(file))
      current = key
    },
  }
}

function masterKeysInMemory(): MasterKeyFiles {
  let current: Uint8Array = randomBytes(keyBytes)
  let next: Uint8Array | undefined
  return {
    current: () => current,
    others: () => (next === undefined ? [] : [next]),
    createNext: () => (next ??= randomBytes(keyBytes)),
    adopt(key) {
      current = key
      next = undefined
    },
  }
}

function read(file: string): Uint8Array | undefined {
  let text
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    if (error.code === 'ENOENT') return undefined
    const [why = ''] = error.message.split(',', 1)
    throw new Error(`The master key ${file} cannot be read (${why}): run this as the user who owns it.`, {
      cause: error,
    })
  }
  const key = Buffer.from(text.trim(), 'base64')
  if (key.length !== keyBytes) throw new Error(`${file} does not contain a ${keyBytes}-byte key in base64`)
  return key
}

/** Written to a temporary name first: a reader always finds a complete key, and if two processes create one, one wins. */
function make(file: string): Uint8Array {
  createStoreDirectory(dirname(file))
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  const handle = openSync(draft, 'wx', 0o600)
  try {
    writeSync(handle, `${randomBytes(keyBytes).toString('base64')}\n`)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  try {
    linkSync(draft, file)
    syncDirectory(dirname(file))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  } finally {
    rmSync(draft)
  }
  return read(file) as Uint8Array
}
