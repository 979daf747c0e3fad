/**
 * Programs that outlive a hub which was killed. Nobody listens to them any more, and the task they work on is failed or
 * run again: so which programs run is noted, and whoever opens the agent next ends those that have no hub. They are known
 * by what is in their environment, so that a number that the system gave to somebody else since is left alone.
 */
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AgentLog, Notes } from '@parley/a2a'
import { newId } from '@parley/a2a'
import type { Program, ProgramOptions } from './program.ts'
import { startProgram } from './program.ts'

export interface Programs {
  /** Starts a program, and remembers that it runs until it does no more. */
  start(options: ProgramOptions): Program
  /** Ends what an earlier hub has left on this machine. Where there is no /proc, nothing is known of anybody. */
  endLeftovers(graceMs: number): Promise<void>
  /** Resolves when all that has ended is forgotten. */
  settled(): Promise<void>
}

interface Running {
  readonly host: string
  readonly pid: number
  readonly hub: number
}

const kind = 'program'
const variable = 'A2A_RUN_ID'
const batch = 100

export function openPrograms(notes: Notes, log: AgentLog): Programs {
  const writing = new Set<Promise<unknown>>()

  function keep(work: Promise<unknown>): void {
    const done = settle(work)
    writing.add(done)
    void done.finally(() => writing.delete(done))
  }

  /** A program is none the worse for a note that could not be written; should the hub be killed then, it may be left. */
  async function settle(work: Promise<unknown>): Promise<void> {
    try {
      await work
    } catch (cause) {
      log.warn('which programs run could not be noted', { cause })
    }
  }

  return {
    start(options) {
      const id = newId()
      const program = startProgram({ ...options, env: { ...options.env, [variable]: id } })
      const { pid } = program
      if (pid === undefined) return program
      const value = { host: hostname(), pid, hub: process.pid } satisfies Running
      const noted = notes.write(kind, { key: id, value })
      keep(noted)
      keep(Promise.allSettled([noted, program.exited]).then(() => notes.remove(kind, id)))
      return program
    },
    async endLeftovers(graceMs) {
      for (let after = ''; ;) {
        const found = await notes.list(kind, { after, limit: batch })
        await Promise.all(found.map(({ key, value }) => endLeftover(key, value as unknown as Running, graceMs)))
        if (found.length < batch) return
        after = found.at(-1)?.key ?? ''
      }
    },
    async settled() {
      while (writing.size > 0) await Promise.all(writing)
    },
  }

  async function endLeftover(id: string, { host, pid, hub }: Running, graceMs: number): Promise<void> {
    if (host !== hostname()) return
    const parent = await parentOf(pid, id)
    // Its hub is another one that runs beside us.
    if (parent === hub) return
    if (parent !== undefined) {
      log.warn('a program that an earlier hub has left is ended', { pid })
      await endGroup(pid, async () => (await parentOf(pid, id)) !== undefined, graceMs)
    }
    await notes.remove(kind, id)
  }
}

/** The parent of the program with this id in its environment, if it is still that program. */
async function parentOf(pid: number, id: string): Promise<number | undefined> {
  try {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8')
    if (!environment.split('\0').includes(`${variable}=${id}`)) return undefined
    // The name of the program may have anything in it, so what follows the last bracket counts: the state, then the parent.
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
    // It is gone.
  }
}
