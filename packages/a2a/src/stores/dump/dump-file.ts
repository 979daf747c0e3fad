/**
 * The lines of a dump: a header, an entry per line, and an end with the counts and the SHA-256 of all lines before it. An export is
 * these lines: the same store always gives the same ones, and nothing in them is about the moment or the program that wrote them. A
 * backup is the same lines with a manifest in the header, compressed.
 */
import { constants } from 'node:buffer'
import { createHash } from 'node:crypto'
import { pipeline } from 'node:stream'
import { createGunzip, createGzip } from 'node:zlib'
import { isStruct } from '../../model/struct.ts'
import { createOrderCheck, type DumpCounts, type DumpEntry } from './dump-entry.ts'
import { entryFromLine, entryToLine } from './entry-line.ts'
import { createManifest, dumpFormat, dumpVersion, type BackupManifest, type BackupOptions } from './manifest.ts'
import type { ReadEntriesOptions, StoreLoader, StoreReader } from './store-dump.ts'

const newline = 0x0a
/** The first byte of a gzip file. The lines of a dump begin with a brace. */
const gzipMark = 0x1f
/** A longer line is no text of JavaScript. Without a limit, a file without line breaks would fill the memory. */
const maxLineBytes = constants.MAX_STRING_LENGTH
/** The first piece that does not end the header: any file that is no dump. */
const maxHeaderBytes = 4 * 2 ** 20
/** The lines are joined to pieces of about this size. */
const pieceCharacters = 256 * 1024
/** A loader gets about this many entries at a time. */
const entriesPerLoad = 256

/** Options of `writeDump`. */
export interface WriteDumpOptions extends Pick<ReadEntriesOptions, 'onDamage'> {
  /** Writes a backup. Default: an export. */
  readonly backup?: BackupOptions
  /** Called now and then with the number of entries written so far. */
  readonly onProgress?: (entries: number) => void
}

/** A dump that was written or read to its end. */
export interface DumpSummary {
  readonly position: number
  readonly counts: DumpCounts
  /** The size of the file. */
  readonly bytes: number
  /** Of all lines but the last. */
  readonly sha256: string
  /** Of a backup. */
  readonly manifest?: BackupManifest
}

function noCounts(): Record<DumpEntry['type'], number> {
  return { task: 0, log: 0, snapshot: 0, blob: 0, push: 0, attempt: 0, kv: 0, claim: 0, key: 0 }
}

/** A dump of a whole store, in pieces of bytes; returns the summary after the last. */
export async function* writeDump(
  reader: StoreReader,
  { backup, onProgress, onDamage }: WriteDumpOptions = {},
): AsyncGenerator<Uint8Array, DumpSummary, undefined> {
  const { position } = reader
  const manifest = backup && createManifest(reader, backup)
  const { keyring = 'wrapped', masterKey } = backup ?? {}
  const counts = noCounts()
  let sha256 = ''

  async function* writeLines(): AsyncGenerator<Buffer, void, undefined> {
    const hash = createHash('sha256')
    const header = {
      ...(manifest ?? { format: dumpFormat, version: dumpVersion, position }),
      ...(keyring === 'full' && masterKey ? { masterKey: Buffer.from(masterKey).toString('base64') } : {}),
    }
    let lines = `${JSON.stringify(header)}\n`
    let entries = 0
    for await (const entry of reader.entries({ isChecked: true, ...(onDamage === undefined ? {} : { onDamage }) })) {
      if (keyring === 'none' && entry.type === 'key') continue
      counts[entry.type] += 1
      entries += 1
      lines += `${entryToLine(entry)}\n`
      if (lines.length < pieceCharacters) continue
      const piece = Buffer.from(lines)
      lines = ''
      hash.update(piece)
      yield piece
      onProgress?.(entries)
    }
    sha256 = hash.update(lines).digest('hex')
    yield Buffer.from(`${lines}${JSON.stringify({ type: 'end', counts, sha256 })}\n`)
  }

  // gzip, because every system can read it, and because the streams of Node for Zstandard take no notice of a file that is cut off or
  // that goes on after its end.
  const pieces = manifest === undefined ? writeLines() : pipeline(writeLines, createGzip({ level: 1 }), () => {})
  let bytes = 0
  for await (const piece of pieces as AsyncIterable<Uint8Array>) {
    bytes += piece.length
    yield piece
  }
  return { position, counts, bytes, sha256, ...(manifest === undefined ? {} : { manifest }) }
}

/** An error of the file, and not of the program or the store. */
export class DumpError extends Error {
  override readonly name = 'DumpError'
}

/** Options of `readDump`. */
export interface ReadDumpOptions {
  /**
   * Receives the manifest, and the master key if the dump contains it, before the first entry. An export has neither. May throw to
   * refuse the dump.
   */
  readonly onManifest?: (manifest: BackupManifest | undefined, masterKey: Uint8Array | undefined) => void
  /** Receives the entries, some at a time. Absent: they are only checked. */
  readonly load?: StoreLoader['load']
  /** Called now and then with the number of entries and of bytes of the file read so far. */
  readonly onProgress?: (entries: number, bytes: number) => void
}

/** Reads a whole export or backup. Throws `DumpError` if it is incomplete, was changed, or is of another format or a newer version. */
export async function readDump(
  pieces: AsyncIterable<Uint8Array>,
  { onManifest, load, onProgress }: ReadDumpOptions = {},
): Promise<DumpSummary> {
  const hash = createHash('sha256')
  const counts = noCounts()
  const check = createOrderCheck()
  let header: DumpHeader | undefined
  let end: Readonly<Record<string, unknown>> | undefined
  let bytes = 0
  let number = 0
  let batch: DumpEntry[] = []

  async function* countBytes(): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const piece of pieces) {
      bytes += piece.length
      yield piece
    }
  }

  function readLine(line: Buffer): void {
    if (end !== undefined) throw new DumpError(`Line ${number} follows the end of the dump.`)
    const text = line.toString()
    if (header === undefined) {
      header = readHeader(text)
      onManifest?.(header.manifest, header.masterKey)
    } else if (text.startsWith('{"type":"end"')) {
      end = readEnd(text)
      return
    } else {
      const entry = inLine(number, () => entryFromLine(text))
      inLine(number, () => check(entry))
      counts[entry.type] += 1
      batch.push(entry)
    }
    hash.update(line).update('\n')
  }

  for await (const line of linesOf(countBytes())) {
    number += 1
    readLine(line)
    if (batch.length < entriesPerLoad && (batch.at(-1)?.type !== 'blob' || load === undefined)) continue
    const full = batch
    batch = []
    await load?.(full)
    onProgress?.(number - 1, bytes)
  }
  if (end === undefined || header === undefined) throw incomplete()
  const sha256 = hash.digest('hex')
  if (end['sha256'] !== sha256)
    throw new DumpError('The dump was changed: its SHA-256 differs from the one at its end.')
  if (batch.length > 0) await load?.(batch)
  const { position, manifest } = header
  return { position, counts, bytes, sha256, ...(manifest === undefined ? {} : { manifest }) }
}

/** The manifest of a backup, from its first line; `undefined` of an export. Throws `DumpError` if it is no dump, or of a newer version. */
export async function readManifest(pieces: AsyncIterable<Uint8Array>): Promise<BackupManifest | undefined> {
  for await (const line of linesOf(pieces)) return readHeader(line.toString()).manifest
  throw incomplete()
}

interface DumpHeader {
  readonly position: number
  readonly manifest: BackupManifest | undefined
  readonly masterKey: Uint8Array | undefined
}

function readHeader(text: string): DumpHeader {
  const header = parse(text)
  if (header?.['format'] !== dumpFormat)
    throw new DumpError('This is not a dump: its first line does not name the format.')
  const { masterKey, ...about } = header
  const { version, position, keyring } = about
  if (version !== dumpVersion) {
    throw new DumpError(
      `The dump has version ${JSON.stringify(version)} of the format; this program reads version ${dumpVersion}. Use the newer program.`,
    )
  }
  if (!Number.isSafeInteger(position)) throw new DumpError('The header of the dump has no position.')
  return {
    position: position as number,
    manifest: keyring === undefined ? undefined : (about as unknown as BackupManifest),
    masterKey: typeof masterKey === 'string' ? Buffer.from(masterKey, 'base64') : undefined,
  }
}

function incomplete(): DumpError {
  return new DumpError('The dump is incomplete: its end is missing.')
}

function readEnd(text: string): Readonly<Record<string, unknown>> {
  const end = parse(text)
  if (end === undefined) throw new DumpError('The end of the dump is damaged.')
  return end
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isStruct(value) ? value : undefined
  } catch {
    return undefined
  }
}

function inLine<Result>(number: number, work: () => Result): Result {
  try {
    return work()
  } catch (cause) {
    throw new DumpError(`Line ${number} of the dump is invalid: ${(cause as Error).message}.`, { cause })
  }
}

/** The bytes of a gzip file decompressed; others as they are. */
async function* decompressed(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const source = pieces[Symbol.asyncIterator]()
  const first = await source.next()
  let bytes = 0
  async function* all(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (let next = first; next.done !== true; next = await source.next()) {
        bytes += next.value.length
        yield next.value
      }
    } finally {
      await source.return?.()
    }
  }
  if (first.done === true || first.value[0] !== gzipMark) return yield* all()
  const gunzip = createGunzip({ chunkSize: pieceCharacters })
  try {
    yield* pipeline(all, gunzip, () => {})
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'Z_BUF_ERROR') throw incomplete()
    throw code?.startsWith('Z_') ? new DumpError(`The dump is damaged: ${message}.`, { cause: error }) : error
  }
  if (gunzip.bytesWritten !== bytes) throw new DumpError('Bytes follow the end of the dump.')
}

/** Lines without their breaks. */
async function* linesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void, undefined> {
  let rest: Buffer[] = []
  let restBytes = 0
  let isFirst = true
  for await (const piece of decompressed(pieces)) {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
    let from = 0
    for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, from)) {
      const part = bytes.subarray(from, at)
      yield rest.length === 0 ? part : Buffer.concat([...rest, part])
      rest = []
      restBytes = 0
      isFirst = false
      from = at + 1
    }
    if (from === bytes.length) continue
    rest.push(bytes.subarray(from))
    restBytes += bytes.length - from
    if (restBytes > (isFirst ? maxHeaderBytes : maxLineBytes)) {
      throw new DumpError(
        isFirst ? 'This is not a dump: its first line is too long.' : 'A line of the dump is too long.',
      )
    }
  }
  if (restBytes > 0) throw new DumpError('The dump is incomplete: its last line has no line break.')
}
