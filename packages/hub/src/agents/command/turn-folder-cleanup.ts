/**
 * The names of turn folders contain the process that made them, so that the next start removes the message files that a killed
 * hub left. Folders of a running hub, and of another machine that shares the directory, stay.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { lstat, readdir, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'

/** The host, the pid, the start time of the process, and the suffix that `mkdtemp` adds. */
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
