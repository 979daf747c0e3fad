/** A hub in a process of its own, and its figures from Linux. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'

export interface HubProcess {
  readonly url: string
  readonly port: number
  readonly pid: number
  stop(): Promise<void>
}

export interface HubOptions {
  /** Writes a CPU profile of the hub into this folder. Default: none. */
  readonly profileFolder?: string | undefined
  /** Another checkout, to compare with. Default: this one. */
  readonly checkout?: string | undefined
  /** Where to write how long turns of the event loop take (`loopHolds`). Default: not measured. */
  readonly loopFile?: string
}

/** Starts a hub with the configuration in a folder. */
export async function startHub(folder: string, options: HubOptions = {}): Promise<HubProcess> {
  const { profileFolder, loopFile, checkout = join(import.meta.dirname, '../..') } = options
  const program = join(resolve(checkout), 'packages/hub/src/cli/main.ts')
  const profile = profileFolder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(profileFolder)}`]
  const monitor = loopFile === undefined ? [] : ['--import', join(import.meta.dirname, 'loop-monitor.ts')]
  const child = spawn(process.execPath, [...profile, ...monitor, '--conditions=parley-source', program], {
    cwd: folder,
    env: { PATH: process.env['PATH'], PORT: '0', ...(loopFile !== undefined ? { LOOP_MONITOR: loopFile } : {}) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const address = Promise.withResolvers<string>()
  const lines: string[] = []
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line)
      const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? []
      if (found !== undefined) address.resolve(found)
    })
  const ended = once(child, 'exit')
  void ended.then(() => address.reject(new Error(`the hub ended:\n${lines.slice(-20).join('\n')}`)))
  address.promise.catch(() => {})
  const url = await address.promise
  return {
    url,
    port: Number(new URL(url).port),
    pid: child.pid as number,
    async stop() {
      // A process that is killed writes no profile.
      child.kill(profileFolder === undefined ? 'SIGKILL' : 'SIGTERM')
      await ended
    },
  }
}

/** The most CPU time of one turn of the hub's event loop since a time; 0 if none was measured. */
export function longestTurnMs(loopFile: string, since: number): number {
  const turns = readFileSync(loopFile, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' ').map(Number))
  return Math.max(0, ...turns.filter(([at = 0]) => at > since).map(([, longest = 0]) => longest))
}

/** 0 where there is no /proc. */
export function rssOf(pid: number): { readonly now: number; readonly peak: number } {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const read = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) * 1_024
    return { now: read('VmRSS'), peak: read('VmHWM') }
  } catch {
    return { now: 0, peak: 0 }
  }
}

/** The next peak counts from now on. */
export function resetPeakRss(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5')
  } catch {
    // No /proc: the peak is 0 as well.
  }
}

export function quantile(values: readonly number[], at: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? NaN
}

export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1_000_000)} MB`
}
