/**
 * Inspects a database file before use: whether all acknowledged writes are there (wal/mark-file.ts), and after an unclean shutdown
 * whether the file is intact. The connection is read-only: a refused file and its WAL stay unchanged, so that the operator can try
 * to recover more.
 */
import { statSync } from 'node:fs'
import type { StoreLog } from '../store-log.ts'
import { type SqliteDatabase, isCorrupt, openSqliteDatabase } from './database.ts'
import { type HighWaterMark, markPath, readMark } from './wal/mark-file.ts'
import { type WalPosition, type WalReader, openWalReader } from './wal/wal-position.ts'

export interface InspectionOptions {
  readonly path: string
  readonly acceptLoss: boolean
  readonly timeoutMs: number
  readonly log: StoreLog
}

/** What the database file holds. */
export interface DatabaseState {
  readonly epoch: number
  readonly position: number
  /** The time of the last record in the log. */
  readonly lastAt: number | undefined
  readonly isWal: boolean
  readonly wal: WalPosition
  readonly inode: bigint
  readonly birth: bigint
}

/**
 * Larger files are checked without the content tables: they are most of the file, and a start must not take minutes. Measured with
 * warm caches: 1.4 GB in 0.9 s.
 */
const wholeCheckBytes = 4 * 2 ** 30
const contentTables = new Set(['log', 'blobs', 'snapshots'])

/** Returns the mark if it belongs to this file. Throws if something is missing or damaged. */
export function inspectDatabase(inspection: InspectionOptions): HighWaterMark | undefined {
  const { path, log } = inspection
  const mark = readMarkOrWarn(path, log)
  const bytes = sizeOf(path)
  if (bytes === 0) {
    if (mark !== undefined && mark.position > 0) reportLoss(inspection, undefined, mark)
    return undefined
  }
  const isUnclean = mark === undefined ? sizeOf(`${path}-wal`) > 0 : !mark.isClean
  if (mark === undefined && !isUnclean) return undefined
  const database = openSqliteDatabase(path, inspection.timeoutMs, 'read')
  let wal: WalReader | undefined
  try {
    if (!isOurs(database)) return undefined
    wal = openWalReader(path)
    const state = mark && readDatabaseState(database, path, wal.read())
    const belonging = mark && state && isMarkOf(state, mark, inspection) ? mark : undefined
    if (isUnclean) checkPages(database, bytes, inspection)
    return belonging
  } catch (error) {
    // SQLite itself cannot read the file.
    throw isCorrupt(error) ? databaseDamaged(path, error.message) : error
  } finally {
    database.close()
    wal?.close()
  }
}

/** Whether the mark belongs to this database. Throws if the database is behind it. */
function isMarkOf(state: DatabaseState, mark: HighWaterMark, inspection: InspectionOptions): boolean {
  const { path, log } = inspection
  if (isRestored(state, mark)) {
    if (state.position < mark.position) {
      log.warn('the database file was replaced by an older one: treating it as a restored backup', { path })
    }
    return false
  }
  if (hasLoss(state, mark)) reportLoss(inspection, state, mark)
  return true
}

/** The identity of a database file. */
export function identityOf(path: string): Pick<HighWaterMark, 'inode' | 'birth'> {
  const { ino, birthtimeNs, ctimeNs } = statSync(path, { bigint: true })
  // If the file system does not keep a creation time, Node returns the time of the last change.
  return { inode: BigInt.asUintN(64, ino), birth: birthtimeNs === ctimeNs ? 0n : BigInt.asUintN(64, birthtimeNs) }
}

function readMarkOrWarn(path: string, log: StoreLog): HighWaterMark | undefined {
  try {
    return readMark(path)
  } catch (cause) {
    log.warn('the high-water mark of the database cannot be read: whether writes are missing is unknown', {
      file: markPath(path),
      cause,
    })
    return undefined
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

/** `migrate` handles a file of another program, or of a version before the first schema. */
function isOurs(database: SqliteDatabase): boolean {
  const sql = `SELECT 1 AS found FROM sqlite_schema WHERE type = 'table' AND name = 'engine'`
  return database.prepare<{ found: number }>(sql).get() !== undefined
}

function readDatabaseState(database: SqliteDatabase, path: string, wal: WalPosition): DatabaseState {
  const row = database
    .prepare<{ epoch: number; position: number }>(
      `SELECT epoch, max(last_position, coalesce((SELECT max(position) FROM log), 0)) AS position FROM engine`,
    )
    .get()
  const last = database.prepare<{ records: string }>('SELECT records FROM log ORDER BY position DESC LIMIT 1').get()
  const mode = database.prepare<{ journal_mode: string }>('PRAGMA journal_mode').get()?.journal_mode
  return {
    epoch: row?.epoch ?? 0,
    position: row?.position ?? 0,
    lastAt: (JSON.parse(last?.records ?? '[]') as { at: number }[]).at(-1)?.at,
    isWal: mode === 'wal',
    wal,
    ...identityOf(path),
  }
}

/**
 * Whether another file replaced the one that the mark belongs to. A WAL with the salt of the mark proves that it is the same
 * database, wherever it was moved. Otherwise a restored file is recognized by its inode or creation time; by an epoch that the file
 * itself had passed; or by its journal mode, which `VACUUM INTO` does not copy.
 */
export function isRestored(state: DatabaseState, mark: HighWaterMark): boolean {
  if (isSameWal(state, mark)) return false
  if (!state.isWal || state.epoch < mark.anchor || state.inode !== mark.inode) return true
  return mark.birth !== 0n && state.birth !== 0n && state.birth !== mark.birth
}

/**
 * The frames are compared too: a WAL whose end is missing after a checkpoint shows old pages over the new ones in the file, and the
 * position need not be among them.
 */
export function hasLoss(state: DatabaseState, mark: HighWaterMark): boolean {
  return state.position < mark.position || (isSameWal(state, mark) && state.wal.frames < mark.wal.frames)
}

function isSameWal({ wal }: DatabaseState, mark: HighWaterMark): boolean {
  return wal.salt !== 0n && wal.salt === mark.wal.salt
}

function reportLoss(
  { path, acceptLoss, log }: InspectionOptions,
  state: DatabaseState | undefined,
  mark: HighWaterMark,
): void {
  const what = `${path} ${describeLoss(state, mark)}`
  if (!acceptLoss) {
    throw new Error(
      `${what}. Restore a backup, or start with --accept-loss (acceptLoss: true) to continue without them.`,
    )
  }
  log.warn(`${what}; the loss was accepted`)
}

function describeLoss(state: DatabaseState | undefined, { position, at, wal }: HighWaterMark): string {
  const until = new Date(at).toISOString()
  if (state === undefined) return `is empty but had ${position} writes, the last at ${until}`
  const count = position - state.position
  if (count <= 0) return `has lost the last ${wal.frames - state.wal.frames} pages of its write-ahead log (${until})`
  const since = state.lastAt === undefined ? '' : `from ${new Date(state.lastAt).toISOString()} `
  return `has lost its last ${count} writes (positions ${state.position + 1} to ${position}), made ${since}until ${until}`
}

function checkPages(database: SqliteDatabase, bytes: number, { path, log }: InspectionOptions): void {
  const from = performance.now()
  for (const table of bytes <= wholeCheckBytes ? ['1'] : smallTables(database)) {
    const [row] = database.prepare<{ quick_check: string }>(`PRAGMA quick_check(${table})`).all()
    if (row !== undefined && row.quick_check !== 'ok') throw databaseDamaged(path, row.quick_check)
  }
  const ms = Math.round(performance.now() - from)
  log.info?.('the database was checked after an unclean shutdown', { path, bytes, ms, whole: bytes <= wholeCheckBytes })
}

function databaseDamaged(path: string, how: string): Error {
  return new Error(
    `${path} is damaged (${how.replaceAll(/\s+/g, ' ')}). Restore a backup, or recover what is readable into a new file: ` +
      `sqlite3 ${path} .recover | sqlite3 new.db`,
  )
}

function smallTables(database: SqliteDatabase): readonly string[] {
  const tables = database.prepare<{ name: string }>(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all()
  return tables.flatMap(({ name }) => (contentTables.has(name) ? [] : [`"${name}"`]))
}
