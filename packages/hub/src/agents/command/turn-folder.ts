/**
 * The folder of one turn: contains the files of its message, and receives files that the program returns. Only its owner
 * can read it, and it is removed when the turn ends.
 */
import { mkdtemp, open, realpath, rm, writeFile, lstat, readdir } from 'node:fs/promises'
import { basename, extname, join, resolve, sep } from 'node:path'
import type { Turn } from '@parley/a2a'
import type { AgentServices } from '../kind.ts'
import type { CommandEntry } from './entry.ts'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'

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

/**
 * The name of a turn folder contains the process that made it, so that the next start removes the message files that a killed hub
 * left: the host, the pid, the start time of the process, and the suffix that `mkdtemp` adds. Folders of a running hub, and of
 * another machine that shares the directory, stay.
 */
const folderPattern = /^parley-turn-([0-9a-f]{8})-(\d+)-(\d+)-\w+$/

let ownPrefix: string | undefined

/** The prefix for `mkdtemp`. */
export function turnFolderPrefix(directory = tmpdir()): string {
  ownPrefix ??= `parley-turn-${hostId()}-${process.pid}-${processStartTime(process.pid) ?? 0}-`
  return join(directory, ownPrefix)
}

/** Removes the folders that ended processes of this user left on this machine. Returns their number. */
export async function removeStaleTurnFolders(directory = tmpdir()): Promise<number> {
  const names = (await readdir(directory)).filter(isStale)
  const removed = await Promise.all(names.map((name) => remove(join(directory, name))))
  return removed.filter(Boolean).length
}

function isStale(name: string): boolean {
  const [, host, pid, start] = folderPattern.exec(name) ?? []
  return host === hostId() && !isAlive(Number(pid), Number(start))
}

async function remove(path: string): Promise<boolean> {
  try {
    const found = await lstat(path)
    // Every user may write to the directory: a name proves nothing.
    if (!found.isDirectory() || found.uid !== (process.getuid?.() ?? found.uid)) return false
    await rm(path, { recursive: true, force: true })
    return true
  } catch {
    return false
  }
}

/** Containers that share a directory may have the same pids, but they have different hostnames. */
function hostId(): string {
  return createHash('sha256').update(hostname()).digest('hex').slice(0, 8)
}

/** If the pid was reused, the start time differs. */
function isAlive(pid: number, start: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  const found = processStartTime(pid)
  return found === undefined || start === 0 || found === start
}

/** In clock ticks since boot. Undefined without /proc. */
function processStartTime(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The program name may contain anything, so fields are counted after the last bracket, where the third field begins.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19])
  } catch {
    return undefined
  }
}
