/**
 * Ends orphans: programs that outlive a killed hub. Nothing reads their output, and their task has failed or runs again. So
 * running programs are recorded, and the next open of the agent ends those without a hub. A program is identified by an id
 * in its environment, so that a reused pid is not killed.
 */
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AgentLog, newId } from '@parley/a2a'
import type { KeyValueStore } from '@parley/a2a/stores'
import { type Program, type ProgramOptions, startProgram } from './program.ts'

export interface ProgramManager {
  /** Starts a program and keeps a record of it until it ends. */
  start(options: ProgramOptions): Program
  /** Ends programs that an earlier hub left on this machine. Does nothing without /proc. */
  endOrphans(graceMs: number): Promise<void>
  /** Resolves when the records of all ended programs are removed. */
  settled(): Promise<void>
}

interface RunningProgramRecord {
  readonly host: string
  readonly pid: number
  readonly hub: number
}

const recordKind = 'program'
const runIdVariable = 'A2A_RUN_ID'
const batch = 100

export function createProgramManager(kv: KeyValueStore, log: AgentLog): ProgramManager {
  const writing = new Set<Promise<unknown>>()

  function trackWrite(work: Promise<unknown>): void {
    const done = settle(work)
    writing.add(done)
    void done.finally(() => writing.delete(done))
  }

  /** A failed write of a record does not affect the program; it may only remain if the hub is killed. */
  async function settle(work: Promise<unknown>): Promise<void> {
    try {
      await work
    } catch (cause) {
      log.warn('the running programs could not be recorded', { cause })
    }
  }

  return {
    start(options) {
      const id = newId()
      const program = startProgram({ ...options, env: { ...options.env, [runIdVariable]: id } })
      const { pid } = program
      if (pid === undefined) return program
      const value = { host: hostname(), pid, hub: process.pid } satisfies RunningProgramRecord
      const recorded = kv.write(recordKind, { key: id, value })
      trackWrite(recorded)
      trackWrite(Promise.allSettled([recorded, program.exited]).then(() => kv.remove(recordKind, id)))
      return program
    },
    async endOrphans(graceMs) {
      for (let after = ''; ;) {
        const found = await kv.list(recordKind, { after, limit: batch })
        await Promise.all(
          found.map(({ key, value }) => endOrphan(key, value as unknown as RunningProgramRecord, graceMs)),
        )
        if (found.length < batch) return
        after = found.at(-1)?.key ?? ''
      }
    },
    async settled() {
      while (writing.size > 0) await Promise.all(writing)
    },
  }

  async function endOrphan(id: string, { host, pid, hub }: RunningProgramRecord, graceMs: number): Promise<void> {
    if (host !== hostname()) return
    const parent = await parentOf(pid, id)
    // Another running hub owns it.
    if (parent === hub) return
    if (parent !== undefined) {
      log.warn('stopping a program left by an earlier hub', { pid })
      await endGroup(pid, async () => (await parentOf(pid, id)) !== undefined, graceMs)
    }
    await kv.remove(recordKind, id)
  }
}

/** The parent of the program with this id in its environment, if the pid still belongs to it. */
async function parentOf(pid: number, id: string): Promise<number | undefined> {
  try {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8')
    if (!environment.split('\0').includes(`${runIdVariable}=${id}`)) return undefined
    // The program name may contain anything, so the fields after the last bracket count: the state, then the parent.
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' ? undefined : Number(parent)
  } catch {
    return undefined
  }
}

async function endGroup(pid: number, lives: () => Promise<boolean>, graceMs: number): Promise<void> {
  signalGroup(pid, 'SIGTERM')
  for (const giveUpAt = performance.now() + graceMs; (await lives()) && performance.now() < giveUpAt;) await sleep(20)
  signalGroup(pid, 'SIGKILL')
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // The process has ended.
  }
}
