/**
 * The lines of a dump: a header, an entry per line, and an end with the counts and the SHA-256 of all lines before it. The same store
 * always gives the same lines: nothing in them is about the moment or the program that wrote them.
 */
import { constants } from 'node:buffer'
import { createHash } from 'node:crypto'
import { isStruct } from '../../model/struct.ts'
import type { DumpCounts, DumpEntry } from './dump-entry.ts'
import { entryFromLine, entryToLine } from './entry-line.ts'
import { createOrderCheck } from './entry-order.ts'
import type { ReadEntriesOptions, StoreLoader, StoreReader } from './store-dump.ts'

const format = 'parley-dump'
/** Raised with every change of the lines that an older program would misread. */
export const dumpVersion = 1
const newline = 0x0a
/** A longer line is no text of JavaScript. Without a limit, a file without line breaks would fill the memory. */
const maxLineBytes = constants.MAX_STRING_LENGTH
/** The first piece that does not end the header: any file that is no dump. */
const maxHeaderBytes = 4 * 2 ** 20
/** The lines are joined to pieces of about this size. */
const pieceCharacters = 256 * 1024
/** A loader gets about this many entries at a time. */
const entriesPerLoad = 256

/** Options of `writeDump`. */
export interface WriteDumpOptions extends Omit<ReadEntriesOptions, 'isChecked'> {
  /** Leaves out the keys of the keyring. Default false. */
  readonly omitsKeys?: boolean
  /** Called now and then with the number of entries written so far. */
  readonly onProgress?: (entries: number) => void
}

/** What a dump contains. */
export interface DumpSummary {
  readonly position: number
  readonly counts: DumpCounts
  /** The size of all lines. */
  readonly bytes: number
  readonly sha256: string
}

function noCounts(): Record<DumpEntry['type'], number> {
  return { task: 0, log: 0, snapshot: 0, blob: 0, push: 0, attempt: 0, kv: 0, claim: 0, key: 0 }
}

/** The lines of a whole store, in pieces of bytes; returns the summary after the last. */
export async function* writeDump(
  reader: StoreReader,
  { omitsKeys = false, onProgress, onDamage }: WriteDumpOptions = {},
): AsyncGenerator<Buffer, DumpSummary, undefined> {
  const hash = createHash('sha256')
  const counts = noCounts()
  const { position } = reader
  let bytes = 0
  let entries = 0
  let lines = `${JSON.stringify({ format, version: dumpVersion, position })}\n`

  function piece(): Buffer {
    const written = Buffer.from(lines)
    lines = ''
    bytes += written.length
    return written
  }

  for await (const entry of reader.entries({ isChecked: true, ...(onDamage === undefined ? {} : { onDamage }) })) {
    if (omitsKeys && entry.type === 'key') continue
    counts[entry.type] += 1
    entries += 1
    lines += `${entryToLine(entry)}\n`
    if (lines.length < pieceCharacters) continue
    const written = piece()
    hash.update(written)
    yield written
    onProgress?.(entries)
  }
  const last = piece()
  hash.update(last)
  yield last
  const sha256 = hash.digest('hex')
  lines = `${JSON.stringify({ type: 'end', counts, sha256 })}\n`
  yield piece()
  return { position, counts, bytes, sha256 }
}

/** An error of the file, and not of the program or the store. */
export class DumpError extends Error {
  override readonly name = 'DumpError'
}

/** Options of `readDump`. */
export interface ReadDumpOptions {
  /** Receives the entries, some at a time. Absent: they are only checked. */
  readonly load?: StoreLoader['load']
  /** Called now and then with the number of entries read so far. */
  readonly onProgress?: (entries: number) => void
}

/** Reads all lines. Throws `DumpError` if the dump is incomplete, was changed, or is of another format or a newer version. */
export async function readDump(
  pieces: AsyncIterable<Uint8Array>,
  { load, onProgress }: ReadDumpOptions = {},
): Promise<DumpSummary> {
  const hash = createHash('sha256')
  const counts = noCounts()
  const check = createOrderCheck()
  let position: number | undefined
  let end: Readonly<Record<string, unknown>> | undefined
  let bytes = 0
  let number = 0
  let batch: DumpEntry[] = []

  function readLine(line: Buffer): void {
    number += 1
    bytes += line.length + 1
    if (end !== undefined) throw new DumpError(`Line ${number} follows the end of the dump.`)
    const text = line.toString()
    if (position === undefined) position = readHeader(text)
    else if (text.startsWith('{"type":"end"')) {
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

  for await (const line of linesOf(pieces)) {
    readLine(line)
    if (batch.length < entriesPerLoad && (batch.at(-1)?.type !== 'blob' || load === undefined)) continue
    const full = batch
    batch = []
    await load?.(full)
    onProgress?.(number - 1)
  }
  if (end === undefined || position === undefined) throw new DumpError('The dump is incomplete: its end is missing.')
  const sha256 = hash.digest('hex')
  if (end['sha256'] !== sha256)
    throw new DumpError('The dump was changed: its SHA-256 differs from the one at its end.')
  if (batch.length > 0) await load?.(batch)
  return { position, counts, bytes, sha256 }
}

function readHeader(text: string): number {
  const header = parse(text)
  if (header?.['format'] !== format) throw new DumpError('This is not a dump: its first line does not name the format.')
  const { version, position } = header
  if (version !== dumpVersion) {
    throw new DumpError(
      `The dump has version ${JSON.stringify(version)} of the format; this program reads version ${dumpVersion}. Use the newer program.`,
    )
  }
  if (!Number.isSafeInteger(position)) throw new DumpError('The header of the dump has no position.')
  return position as number
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

/** Lines without their breaks. A last line without a break is incomplete and not returned. */
async function* linesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void, undefined> {
  let rest: Buffer[] = []
  let restBytes = 0
  let isFirst = true
  for await (const piece of pieces) {
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
}
