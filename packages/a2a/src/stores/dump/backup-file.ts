/**
 * A backup: the lines of a dump, compressed, with a manifest. One file that contains everything needed to restore it, except the
 * master key if it was left out.
 */
import { createHmac } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'
import { decodeBlocks, encodeBlock, startOfBackup } from './backup-blocks.ts'
import {
  DumpError,
  readDump,
  writeDump,
  type DumpSummary,
  type ReadDumpOptions,
  type WriteDumpOptions,
} from './dump-file.ts'
import type { StoreKind, StoreReader } from './store-dump.ts'

const format = 'parley-backup'
/** Raised with every change that an older program would misread. */
const backupVersion = 1
/** Larger blocks compress hardly better. */
const blockBytes = 2 ** 20
const maxBlockBytes = 4 * blockBytes
/** Blocks that are compressed at the same time, by threads of their own. */
const parallelBlocks = 3

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)
const compression = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/**
 * Which keys a backup contains. `wrapped`: the keys of the keyring, which are of no use without the master key. `full`: the master key
 * too, so that the file alone is enough to read all secrets. `none`: no keys.
 */
export type BackupKeyring = 'wrapped' | 'full' | 'none'

/** What a backup says of itself at its start. */
export interface BackupManifest {
  readonly format: typeof format
  readonly version: number
  /** The version of the program that wrote it. */
  readonly program: string
  readonly store: StoreKind
  readonly schemaVersion: number
  /** When the store was read, as a timestamp in ISO 8601. */
  readonly createdAt: string
  /** Where the feed of the store ended. */
  readonly position: number
  readonly keyring: BackupKeyring
  /** Tells whether a master key is the one that wrapped the keys, without telling the key. Absent: it was not known. */
  readonly masterKeyCheck?: string
  readonly compression: 'zstd'
}

/** A backup that was read or written to its end. */
export interface BackupSummary extends Omit<DumpSummary, 'bytes'> {
  readonly manifest: BackupManifest
  /** The size of the file. */
  readonly bytes: number
  /** The size of its lines. */
  readonly dumpBytes: number
  /** Of a backup with `keyring: full`. */
  readonly masterKey?: Uint8Array
}

/** Options of `writeBackup`. */
export interface WriteBackupOptions extends Pick<WriteDumpOptions, 'onProgress'> {
  /** The version of the program, for the manifest. */
  readonly program: string
  /** When the reader was opened, in milliseconds since the epoch. */
  readonly createdAt: number
  /** Default `wrapped`. */
  readonly keyring?: BackupKeyring
  /** Required for `full`. Otherwise it only adds `masterKeyCheck` to the manifest. */
  readonly masterKey?: Uint8Array | undefined
}

/** A backup of a whole store, in pieces of bytes; returns the summary after the last. */
export async function* writeBackup(
  reader: StoreReader,
  options: WriteBackupOptions,
): AsyncGenerator<Buffer, BackupSummary, undefined> {
  const { program, createdAt, keyring = 'wrapped', masterKey, onProgress } = options
  if (keyring === 'full' && masterKey === undefined)
    throw new Error('A backup with the full keyring needs the master key')
  const { kind, schemaVersion, position } = reader
  const manifest: BackupManifest = {
    format,
    version: backupVersion,
    program,
    store: kind,
    schemaVersion,
    createdAt: new Date(createdAt).toISOString(),
    position,
    keyring,
    ...(masterKey === undefined || keyring === 'none' ? {} : { masterKeyCheck: masterKeyCheck(masterKey) }),
    compression: 'zstd',
  }
  let bytes = 0
  const counted = (piece: Buffer): Buffer => {
    bytes += piece.length
    return piece
  }
  yield counted(startOfBackup())
  yield counted(jsonBlock('MANI', manifest))
  if (keyring === 'full' && masterKey !== undefined) yield counted(encodeBlock('MKEY', masterKey))
  const lines = writeDump(reader, {
    omitsKeys: keyring === 'none',
    ...(onProgress === undefined ? {} : { onProgress }),
  })
  const waiting: Promise<Buffer>[] = []
  let pieces: Buffer[] = []
  let length = 0

  function endBlock(): void {
    const all = Buffer.concat(pieces)
    pieces = []
    length = 0
    // The line of a large blob is several blocks.
    for (let from = 0; from < all.length; from += maxBlockBytes) {
      waiting.push(compressed(all.subarray(from, from + maxBlockBytes)))
    }
  }

  let next = await lines.next()
  for (; next.done !== true; next = await lines.next()) {
    pieces.push(next.value)
    length += next.value.length
    if (length >= blockBytes) endBlock()
    while (waiting.length >= parallelBlocks)
      yield counted(encodeBlock('DATA', await (waiting.shift() as Promise<Buffer>)))
  }
  endBlock()
  for (const last of waiting) yield counted(encodeBlock('DATA', await last))
  const { bytes: dumpBytes, ...summary } = next.value
  yield counted(jsonBlock('DONE', { ...summary, dumpBytes }))
  return { manifest, ...summary, dumpBytes, bytes }
}

/** The rejection of a block that is never awaited must not end the process: the error that stopped the loop is reported. */
function compressed(block: Buffer): Promise<Buffer> {
  const result = compress(block, compression)
  result.catch(() => {})
  return result
}

function jsonBlock(type: 'MANI' | 'DONE', value: unknown): Buffer {
  return encodeBlock(type, Buffer.from(JSON.stringify(value)))
}

/** Options of `readBackup`. */
export interface ReadBackupOptions extends ReadDumpOptions {
  /** Receives the manifest, and the master key if the backup has it, before the first entry. May throw to refuse the backup. */
  readonly onManifest?: (manifest: BackupManifest, masterKey: Uint8Array | undefined) => void | Promise<void>
}

/** Reads a whole backup and compares all checksums. Throws `DumpError` if it is incomplete, was changed, or of a newer version. */
export async function readBackup(
  pieces: AsyncIterable<Uint8Array>,
  { onManifest, ...options }: ReadBackupOptions = {},
): Promise<BackupSummary> {
  let bytes = startOfBackup().length
  let manifest: BackupManifest | undefined
  let masterKey: Uint8Array | undefined
  let done: Readonly<Record<string, unknown>> | undefined

  async function* lines(): AsyncGenerator<Buffer, void, undefined> {
    let isAnnounced = false
    for await (const { type, content } of decodeBlocks(pieces)) {
      bytes += content.length + 12
      if (manifest === undefined) manifest = readManifest(type, content)
      else if (type === 'MKEY') masterKey = content
      else if (type === 'DONE') done = JSON.parse(content.toString()) as Record<string, unknown>
      else if (type === 'DATA') {
        if (!isAnnounced) await onManifest?.(manifest, masterKey)
        isAnnounced = true
        yield await decompress(content, { maxOutputLength: maxBlockBytes })
      }
    }
  }

  const { bytes: dumpBytes, ...summary } = await readDump(lines(), options)
  // The last lines end the dump before the last block ends the file: `readDump` has read both.
  if (manifest === undefined || done?.['sha256'] !== summary.sha256)
    throw new DumpError('The end of the backup is damaged.')
  return { manifest, ...summary, dumpBytes, bytes, ...(masterKey === undefined ? {} : { masterKey }) }
}

function readManifest(type: string, content: Buffer): BackupManifest {
  const manifest = type === 'MANI' ? (JSON.parse(content.toString()) as BackupManifest) : undefined
  if (manifest?.format !== format) throw new DumpError('The backup has no manifest.')
  if (manifest.version !== backupVersion) {
    throw new DumpError(
      `The backup has version ${manifest.version} of the format; this program reads version ${backupVersion}. Use the newer program.`,
    )
  }
  return manifest
}

/** The manifest of a backup, from its first block. Throws `DumpError` if there is none, or one of a newer version. */
export async function readBackupManifest(pieces: AsyncIterable<Uint8Array>): Promise<BackupManifest> {
  for await (const { type, content } of decodeBlocks(pieces)) return readManifest(type, content)
  throw new DumpError('The backup has no manifest.')
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
