/**
 * Fills an empty SQLite store. The file is written under another name, without a journal and with its indexes created at the end, and
 * gets its name when it is complete and on disk. So a process that is killed leaves no half store: the next load begins again, and a
 * store is not opened before (sqlite-store.ts).
 */
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import {
  createPrivateFile,
  createStoreDirectory,
  lockFile,
  migrateSqlite,
  openSqliteDatabase,
  partialFile,
  type SqliteDatabase,
  syncDirectory,
} from '../../sqlite/dump-access.ts'
import { createOrderCheck, type DumpEntry } from '../dump-entry.ts'
import type { StoreLoader } from '../store-dump.ts'
import { createEntryWriter } from './entry-writer.ts'

/** What an earlier database of the same name may have left: its high-water mark would be taken for that of this one. */
const leftovers = ['-mark', '-wal', '-shm', '-journal']

/** Options of `sqliteLoader`. */
export interface SqliteLoaderOptions {
  /** The path of the store, which must not exist yet. Its directory is created. */
  readonly file: string
  /** The wall clock, for tests: milliseconds since the epoch. Default: the system's. */
  readonly now?: () => number
}

/**
 * Starts to fill a SQLite store that does not exist yet, for `StoreLoader`. Rejects if the file has content or is in use. The master
 * key in `<file>.key` stays as it is.
 */
export async function sqliteLoader(options: string | SqliteLoaderOptions): Promise<StoreLoader> {
  const { file: given, now = Date.now } = typeof options === 'string' ? { file: options } : options
  const file = resolve(given)
  createStoreDirectory(dirname(file))
  const hadLock = existsSync(`${file}.lock`)
  const release = lockFile(file)
  /** Nothing is left of a load that failed, but for what was there before. */
  const unlock = (isLoaded: boolean): void => {
    if (!isLoaded && !hadLock) rmSync(`${file}.lock`, { force: true })
    release()
  }
  const draft = partialFile(file)
  let database: SqliteDatabase | undefined
  let isCreated = false
  let isFinished = false

  /** A journal would only be needed to undo a part. */
  function create(): SqliteDatabase {
    isCreated = true
    rmSync(draft, { force: true })
    createPrivateFile(draft)
    const created = openSqliteDatabase(draft, 0)
    created.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -64000')
    migrateSqlite(created, now())
    return created
  }

  try {
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0) {
      throw new Error(`${file} is not empty: load into a new file.`)
    }
    const created = create()
    database = created
    const indexes = dropIndexes(created)
    created.exec('BEGIN')
    const writer = createEntryWriter(created, now())
    const check = createOrderCheck()
    return {
      load: async (entries: readonly DumpEntry[]) => {
        for (const entry of entries) {
          check(entry)
          writer.write(entry)
        }
      },
      finish: async (position) => {
        writer.finish(position)
        for (const sql of indexes) created.exec(sql)
        created.exec('COMMIT')
        created.close()
        database = undefined
        syncFile(draft)
        for (const end of leftovers) rmSync(file + end, { force: true })
        renameSync(draft, file)
        syncDirectory(dirname(file))
        isFinished = true
      },
      close: async () => {
        database?.close()
        database = undefined
        if (!isFinished) rmSync(draft, { force: true })
        unlock(isFinished)
      },
    }
  } catch (error) {
    database?.close()
    // Such as on a full disk. What is left would keep a hub from starting here.
    if (isCreated) rmSync(draft, { force: true })
    unlock(false)
    throw error
  }
}

/**
 * Drops the indexes that no insert needs, and returns the statements that create them: creating an index of all rows sorts them once,
 * where each insert would change a page of its own. A duplicate makes the creation of a unique index fail.
 */
function dropIndexes(database: SqliteDatabase): readonly string[] {
  const indexes = database
    .prepare<{ name: string; sql: string }>(
      `SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND name <> 'blobs_digest'`,
    )
    .all()
  for (const { name } of indexes) database.exec(`DROP INDEX "${name}"`)
  return indexes.map(({ sql }) => sql)
}

function syncFile(file: string): void {
  const handle = openSync(file, 'r+')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
