/**
 * The high-water mark: the last committed position, in a small file beside the database. SQLite silently drops the rest of a
 * write-ahead log at the first damaged frame; the mark shows that something is missing.
 *
 * The mark is written after a commit and never before, so it is never ahead of the database, however the process ends. Two
 * records are written alternately: if one is torn, the other is intact.
 */
import { closeSync, constants, fdatasync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import type { StoreLog } from '../../store-log.ts'
import type { WalPosition } from './wal-position.ts'

export interface HighWaterMark {
  /** Of the database file: its inode, and its creation time if the file system keeps it. A replaced file has others. */
  readonly inode: bigint
  readonly birth: bigint
  /** The epoch of the store that wrote it (epoch.ts). */
  readonly epoch: number
  /** The last epoch known to be in the database file itself, where damage to the WAL cannot undo it. */
  readonly anchor: number
  readonly position: number
  /** When the position was reached. */
  readonly at: number
  readonly isClean: boolean
  readonly wal: WalPosition
}

export interface MarkWriter {
  /**
   * Writes the position that the database has reached. `wal` is read once a second and not with each commit, so it may be older; the
   * position is not. Never throws: a mark that cannot be written stays behind the database, which is allowed.
   */
  write(position: number, at: number): void
  /** Records whether the database was closed cleanly. */
  close(isClean: boolean): Promise<void>
}

const magic = Buffer.from('PRLYMRK1')
/** Two records, each in a sector of its own. */
const slotBytes = 512
const recordBytes = 96
const checkedBytes = recordBytes - 4
const syncMs = 1_000
/** Not truncated: the existing content is overwritten in place. `a+` would write at the end. */
const openFlags = constants.O_RDWR | constants.O_CREAT

export function markPath(databasePath: string): string {
  return `${databasePath}-mark`
}

/** `undefined` if there is no file; throws if none of its records is intact. */
export function readMark(databasePath: string): HighWaterMark | undefined {
  let content: Buffer
  try {
    content = readFileSync(markPath(databasePath))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
  const found = [0, slotBytes].flatMap((from) => decode(content.subarray(from, from + recordBytes)) ?? [])
  const [newest] = found.toSorted((a, b) => b.sequence - a.sequence)
  if (newest === undefined) throw new Error('it has no complete record')
  return newest.mark
}

/** Writes the first mark and syncs it. Throws if the file cannot be written. */
export function openMark(
  databasePath: string,
  first: HighWaterMark,
  readWal: () => WalPosition,
  log: StoreLog,
): MarkWriter {
  const handle = openSync(markPath(databasePath), openFlags, 0o600)
  const record = Buffer.alloc(recordBytes)
  const checked = record.subarray(0, checkedBytes)
  let sequence = Date.now() * 1_000
  let isSynced = true
  let isWalKnown = false
  let hasFailed = false
  let syncing: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  /** The record with the higher sequence is the newer one. */
  function put(): void {
    sequence += 1
    record.writeDoubleBE(sequence, 8)
    record.writeUInt32BE(crc32(checked), checkedBytes)
    writeSync(handle, record, 0, recordBytes, (sequence % 2) * slotBytes)
  }

  function sync(): void {
    timer = undefined
    isSynced = true
    isWalKnown = false
    syncing = new Promise((resolve) => {
      fdatasync(handle, (error) => {
        if (error !== null) fail(error)
        resolve()
      })
    })
  }

  function fail(cause: unknown): void {
    if (!hasFailed) log.warn('the high-water mark of the database cannot be written', { databasePath, cause })
    hasFailed = true
  }

  try {
    encode(record, first)
    // Both records, so that no record of an earlier database remains.
    put()
    put()
    fdatasyncSync(handle)
  } catch (error) {
    closeSync(handle)
    throw error
  }
  return {
    write(position, at) {
      try {
        if (!isWalKnown) encodeWal(record, readWal())
        isWalKnown = true
        encodePosition(record, position, at)
        put()
      } catch (error) {
        fail(error)
        return
      }
      if (!isSynced) return
      isSynced = false
      timer = setTimeout(sync, syncMs)
      timer.unref()
    },
    async close(isClean) {
      clearTimeout(timer)
      await syncing
      try {
        encodeClean(record, isClean)
        put()
        fdatasyncSync(handle)
      } catch (error) {
        fail(error)
      } finally {
        closeSync(handle)
      }
    },
  }
}

function encode(record: Buffer, { inode, birth, epoch, anchor, position, at, wal, isClean }: HighWaterMark): void {
  record.set(magic, 0)
  record.writeBigUInt64BE(inode, 16)
  record.writeBigUInt64BE(birth, 24)
  record.writeDoubleBE(epoch, 32)
  record.writeDoubleBE(anchor, 40)
  encodePosition(record, position, at)
  encodeWal(record, wal)
  encodeClean(record, isClean)
}

function encodePosition(record: Buffer, position: number, at: number): void {
  record.writeDoubleBE(position, 48)
  record.writeDoubleBE(at, 56)
}

function encodeWal(record: Buffer, { salt, frames }: WalPosition): void {
  record.writeBigUInt64BE(salt, 64)
  record.writeUInt32BE(frames, 72)
}

function encodeClean(record: Buffer, isClean: boolean): void {
  record.writeUInt32BE(isClean ? 1 : 0, 76)
}

function decode(record: Buffer): { readonly sequence: number; readonly mark: HighWaterMark } | undefined {
  if (record.length < recordBytes || !record.subarray(0, magic.length).equals(magic)) return undefined
  if (crc32(record.subarray(0, checkedBytes)) !== record.readUInt32BE(checkedBytes)) return undefined
  return {
    sequence: record.readDoubleBE(8),
    mark: {
      inode: record.readBigUInt64BE(16),
      birth: record.readBigUInt64BE(24),
      epoch: record.readDoubleBE(32),
      anchor: record.readDoubleBE(40),
      position: record.readDoubleBE(48),
      at: record.readDoubleBE(56),
      wal: { salt: record.readBigUInt64BE(64), frames: record.readUInt32BE(72) },
      isClean: record.readUInt32BE(76) === 1,
    },
  }
}
