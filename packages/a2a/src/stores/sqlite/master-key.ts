/** The master key of a keyring, in a file beside the database that only its owner may read. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { randomBytes } from 'node:crypto'
import { silentLog } from '../store-log.ts'
import { makePrivate } from './private-files.ts'

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

/** Whether a database on disk has no key yet. */
export function isMasterKeyMissing(databaseFile: string): boolean {
  return databaseFile !== ':memory:' && !existsSync(`${databaseFile}.key`)
}

function read(file: string): Uint8Array | undefined {
  let text
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
  const key = Buffer.from(text.trim(), 'base64')
  if (key.length !== keyBytes) throw new Error(`${file} does not contain a ${keyBytes}-byte key in base64`)
  return key
}

/** Written to a temporary name first: a reader always finds a complete key, and if two processes create one, one wins. */
function make(file: string): Uint8Array {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
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

/** A new name survives a power loss once its directory is synced. Windows has no such call and needs none. */
function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
