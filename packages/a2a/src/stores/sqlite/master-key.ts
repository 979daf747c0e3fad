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
 * Reads the key that belongs to a database, or makes it: `tasks.db` has `tasks.db.key`. Keep a copy elsewhere than the
 * backups of the database. For `:memory:` the key is as short-lived as the data.
 */
export function masterKeyBeside(databaseFile: string): Uint8Array {
  if (databaseFile === ':memory:') return randomBytes(keyBytes)
  const file = `${databaseFile}.key`
  makePrivate([file], silentLog)
  return read(file) ?? make(file)
}

/** Whether a database on disk has no key yet. */
export function isMissing(databaseFile: string): boolean {
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
  if (key.length !== keyBytes) throw new Error(`${file} does not hold a key of ${keyBytes} bytes in base64`)
  return key
}

/** Written whole under another name first: whoever finds the file finds a whole key, and of two who make one, one wins. */
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
    keepName(dirname(file))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  } finally {
    rmSync(draft)
  }
  return read(file) as Uint8Array
}

/** A new name is safe from a loss of power once its directory is written. Windows has no such call and needs none. */
function keepName(directory: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
