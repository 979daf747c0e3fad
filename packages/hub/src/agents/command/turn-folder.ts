/**
 * The folder of one turn: contains the files of its message, and receives files that the program returns. Only its owner
 * can read it, and it is removed when the turn ends.
 */
import { mkdtemp, open, realpath, rm, writeFile } from 'node:fs/promises'
import { basename, extname, join, resolve, sep } from 'node:path'
import type { Turn } from '@parley/a2a'
import type { AgentServices } from '../kind.ts'
import type { CommandEntry } from './entry.ts'
import { turnFolderPrefix } from './turn-folder-cleanup.ts'

export interface ProgramFile {
  readonly name: string
  readonly mediaType?: string
  /** Either a path or the content. */
  readonly path?: string
  readonly base64?: string
}

export interface TurnFolder {
  readonly path: string
  /** Reads a file that the program left in the folder. Links that lead outside are rejected. */
  read(path: string, limitBytes: number): Promise<{ readonly bytes: Uint8Array; readonly filename: string }>
  remove(): Promise<void>
}

export async function createTurnFolder(): Promise<TurnFolder> {
  const path = await realpath(await mkdtemp(turnFolderPrefix()))
  return {
    path,
    async read(wanted, limitBytes) {
      const file = await realpath(resolve(path, wanted))
      if (!file.startsWith(path + sep)) throw new Error(`${wanted} is not in the folder of the turn`)
      return { bytes: await readFileWithin(file, limitBytes), filename: basename(file) }
    },
    remove: () => rm(path, { recursive: true, force: true }),
  }
}

async function readFileWithin(file: string, limitBytes: number): Promise<Uint8Array> {
  const handle = await open(file)
  try {
    const stat = await handle.stat()
    if (!stat.isFile()) throw new Error(`${basename(file)} is not a file`)
    if (stat.size > limitBytes) throw new Error(`${basename(file)} is larger than ${limitBytes} bytes`)
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

/** Passes the files of a message to the program, in the folder or inline. Data parts become files if there is no other way. */
export async function provideFiles(
  turn: Turn,
  { files, protocol }: Pick<CommandEntry, 'files' | 'protocol'>,
  services: Pick<AgentServices, 'readPart'>,
  folder: TurnFolder | undefined,
): Promise<readonly ProgramFile[]> {
  const wanted = turn.message.parts.filter((part) => !('text' in part) && (protocol === 'text' || !('data' in part)))
  const given: ProgramFile[] = []
  for (const [index, part] of wanted.entries()) {
    const { bytes, mediaType, filename } = await services.readPart(part, turn.signal)
    const name = safeFilename(filename, 'data' in part ? '.json' : '')
    const about = { name, ...(mediaType !== undefined ? { mediaType } : {}) }
    if (files === 'base64' || folder === undefined) {
      given.push({ ...about, base64: Buffer.from(bytes).toString('base64') })
      continue
    }
    // Numbered, because two files of a message may have the same name.
    const path = join(folder.path, `${index + 1}-${name}`)
    await writeFile(path, bytes, { mode: 0o600, flag: 'wx' })
    given.push({ ...about, path })
  }
  return given
}

/** Makes a filename from the caller safe as part of a path. */
export function safeFilename(filename: string | undefined, extension = ''): string {
  const bare = basename((filename ?? '').replaceAll('\\', '/'))
  const safe = bare.replaceAll(/[^\p{L}\p{N}._ -]/gu, '_').replace(/^[. -]+/, '')
  if (safe === '') return `file${extension}`
  const end = extname(safe).slice(0, 20)
  return safe.length <= 100 ? safe : safe.slice(0, 100 - end.length) + end
}
