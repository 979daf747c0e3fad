/**
 * The folder of one turn: the files of its message go in, and what the program wants to hand back as a file comes out. It is
 * the owner's alone, and gone when the turn is over.
 */
import { mkdtemp, open, realpath, rm, writeFile } from 'node:fs/promises'
import { basename, extname, join, resolve, sep } from 'node:path'
import type { Turn } from '@parley/a2a'
import type { KindParts } from '../kind.ts'
import type { CommandEntry } from './entry.ts'
import { turnFolderPrefix } from './turn-folders.ts'

export interface GivenFile {
  readonly name: string
  readonly mediaType?: string
  /** Where it is, or what it is. */
  readonly path?: string
  readonly base64?: string
}

export interface Folder {
  readonly path: string
  /** A file that the program left in it: never one elsewhere, whatever links say. */
  read(path: string, limitBytes: number): Promise<{ readonly bytes: Uint8Array; readonly filename: string }>
  remove(): Promise<void>
}

export async function makeFolder(): Promise<Folder> {
  const path = await realpath(await mkdtemp(turnFolderPrefix()))
  return {
    path,
    async read(wanted, limitBytes) {
      const file = await realpath(resolve(path, wanted))
      if (!file.startsWith(path + sep)) throw new Error(`${wanted} is not in the folder of the turn`)
      return { bytes: await readWithin(file, limitBytes), filename: basename(file) }
    },
    remove: () => rm(path, { recursive: true, force: true }),
  }
}

async function readWithin(file: string, limitBytes: number): Promise<Uint8Array> {
  const handle = await open(file)
  try {
    const stat = await handle.stat()
    if (!stat.isFile()) throw new Error(`${basename(file)} is no file`)
    if (stat.size > limitBytes) throw new Error(`${basename(file)} is larger than ${limitBytes} bytes`)
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

/** Hands the files of a message over, in the folder or as they are. Data is a file where there is no other way to say it. */
export async function giveFiles(
  turn: Turn,
  { files, protocol }: Pick<CommandEntry, 'files' | 'protocol'>,
  parts: Pick<KindParts, 'bytes'>,
  folder: Folder | undefined,
): Promise<readonly GivenFile[]> {
  const wanted = turn.message.parts.filter((part) => !('text' in part) && (protocol === 'text' || !('data' in part)))
  const given: GivenFile[] = []
  for (const [index, part] of wanted.entries()) {
    const { bytes, mediaType, filename } = await parts.bytes(part, turn.signal)
    const name = safeName(filename, 'data' in part ? '.json' : '')
    const about = { name, ...(mediaType !== undefined ? { mediaType } : {}) }
    if (files === 'base64' || folder === undefined) {
      given.push({ ...about, base64: Buffer.from(bytes).toString('base64') })
      continue
    }
    // Numbered, because two files of a message may have one name.
    const path = join(folder.path, `${index + 1}-${name}`)
    await writeFile(path, bytes, { mode: 0o600, flag: 'wx' })
    given.push({ ...about, path })
  }
  return given
}

/** A name that a stranger chose, as part of a path. */
export function safeName(filename: string | undefined, extension = ''): string {
  const bare = basename((filename ?? '').replaceAll('\\', '/'))
  const safe = bare.replaceAll(/[^\p{L}\p{N}._ -]/gu, '_').replace(/^[. -]+/, '')
  if (safe === '') return `file${extension}`
  const end = extname(safe).slice(0, 20)
  return safe.length <= 100 ? safe : safe.slice(0, 100 - end.length) + end
}
