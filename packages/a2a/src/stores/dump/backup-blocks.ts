/**
 * The container of a backup: blocks with a type, a length and a checksum, in one file that is written and read from its start to its
 * end. A reader notices a damaged or missing block before it uses it.
 */
import { crc32 } from 'node:zlib'
import { DumpError } from './dump-file.ts'

const magic = Buffer.from('PARLEYB1')
/** The type, the length of the content and its CRC-32. */
const headerBytes = 12
/** Written blocks are far smaller. A larger number is damage, and must not allocate memory. */
const maxBlockBytes = 16 * 2 ** 20

/** `MANI`: the manifest. `DATA`: compressed lines of a dump. `MKEY`: the master key. `DONE`: the summary, and the end. */
export type BlockType = 'MANI' | 'DATA' | 'MKEY' | 'DONE'
const blockTypes: readonly string[] = ['MANI', 'DATA', 'MKEY', 'DONE'] satisfies BlockType[]

export interface BackupBlock {
  readonly type: BlockType
  readonly content: Buffer
}

export function startOfBackup(): Buffer {
  return magic
}

export function encodeBlock(type: BlockType, content: Uint8Array): Buffer {
  const header = Buffer.alloc(headerBytes)
  header.write(type, 0, 'latin1')
  header.writeUInt32BE(content.length, 4)
  header.writeUInt32BE(crc32(content), 8)
  return Buffer.concat([header, content])
}

/** All blocks in order. Throws `DumpError` unless the last one is `DONE` and nothing follows it. */
export async function* decodeBlocks(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<BackupBlock, void, undefined> {
  const bytes = createByteReader(pieces)
  const start = await bytes.take(magic.length)
  if (start?.equals(magic) !== true) throw new DumpError('This is not a backup of Parley.')
  for (let number = 1; ; number += 1) {
    const header = await bytes.take(headerBytes)
    if (header === undefined) throw new DumpError('The backup is incomplete: its end is missing.')
    const type = header.toString('latin1', 0, 4)
    const length = header.readUInt32BE(4)
    if (!blockTypes.includes(type) || length > maxBlockBytes) throw damagedBlock(number)
    const content = await bytes.take(length)
    if (content === undefined) throw new DumpError('The backup is incomplete: its last block is cut off.')
    if (crc32(content) !== header.readUInt32BE(8)) throw damagedBlock(number)
    yield { type: type as BlockType, content }
    if (type !== 'DONE') continue
    if ((await bytes.take(1)) !== undefined) throw new DumpError('The backup is damaged: bytes follow its end.')
    return
  }
}

function damagedBlock(number: number): DumpError {
  return new DumpError(`The backup is damaged: block ${number} does not have its checksum.`)
}

function createByteReader(pieces: AsyncIterable<Uint8Array>) {
  const source = pieces[Symbol.asyncIterator]()
  let held: Buffer[] = []
  let length = 0
  return {
    /** `undefined` if fewer bytes are left. */
    async take(wanted: number): Promise<Buffer | undefined> {
      while (length < wanted) {
        const next = await source.next()
        if (next.done === true) return undefined
        held.push(Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength))
        length += next.value.byteLength
      }
      const all = held.length === 1 ? (held[0] as Buffer) : Buffer.concat(held)
      held = all.length === wanted ? [] : [all.subarray(wanted)]
      length = all.length - wanted
      return all.subarray(0, wanted)
    },
  }
}
