/** Creates the directory of a store. Most errors end a program, so their messages name the path and what to change. */
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** For its owner only, and not for git: it holds tasks and keys. */
export function createStoreDirectory(directory: string): void {
  const path = resolve(directory)
  try {
    const isNew = directoryStatus(path) === undefined
    create(path)
    if (isNew) writeFileSync(join(path, '.gitignore'), '*\n', { mode: 0o600 })
  } catch (reason) {
    throw accessError(reason, `The directory ${path} cannot be created`)
  }
}

/** Level by level: Node's recursive `mkdir` never returns below a directory that refuses every name, such as /proc. */
function create(path: string): void {
  const isDirectory = directoryStatus(path)
  if (isDirectory === true) return
  if (isDirectory === false) throw new Error(`${path} is a file, not a directory: choose another directory.`)
  create(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (reason) {
    // Another process was first.
    if (directoryStatus(path) !== true) throw reason
  }
}

/** `undefined` if nothing is there. */
function directoryStatus(path: string): boolean | undefined {
  try {
    return statSync(path).isDirectory()
  } catch (reason) {
    const code = codeOf(reason)
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw reason
  }
}

/** SQLITE_PERM, SQLITE_READONLY, SQLITE_CANTOPEN */
const sqliteAccessCodes = new Set([3, 8, 14])
const sqliteNotADatabase = 26

/** The error of a store whose files this user cannot read or write, or of another kind of file; any other error stays as it is. */
export function storeAccessError(reason: unknown, file: string): unknown {
  const { errcode } = reason as { readonly errcode?: number }
  if (errcode === sqliteNotADatabase)
    return new Error(`The store ${resolve(file)} cannot be opened (file is not a database): choose another file.`, {
      cause: reason,
    })
  const isSqlite = errcode !== undefined && sqliteAccessCodes.has(errcode % 256)
  // ENOENT: the directory exists, and refuses every name.
  const isFile = ['EACCES', 'EPERM', 'EROFS', 'EISDIR', 'ENAMETOOLONG', 'ENOENT'].includes(codeOf(reason) ?? '')
  return isSqlite || isFile ? accessError(reason, `The store ${resolve(file)} cannot be opened`) : reason
}

function accessError(reason: unknown, sentence: string): unknown {
  if (!(reason instanceof Error) || !('code' in reason)) return reason
  // Without the call and the path: "EACCES: permission denied"
  const [why = ''] = reason.message.split(',', 1)
  return new Error(`${sentence} (${why}): choose another directory, or change its permissions.`, { cause: reason })
}

function codeOf(reason: unknown): string | undefined {
  return reason instanceof Error && 'code' in reason ? String(reason.code) : undefined
}
