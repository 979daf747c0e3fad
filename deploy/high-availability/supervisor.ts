/** Keeps processes running: starts each again when it ends, until it is stopped. Their output is in a log each. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SystemUser } from './settings.ts'

export interface ProcessCommand {
  readonly command: readonly string[]
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly user?: SystemUser | undefined
}

export interface SupervisedProcess {
  readonly name: string
  readonly pid: number | undefined
  /** How often it was started again by itself. */
  readonly restarts: number
  /** With another command than before, if one is given. */
  start(command?: ProcessCommand): void
  /** Sends the signals in turn, each after the seconds of the one before have passed. It stays down until `start`. */
  stop(...signals: readonly (readonly [signal: NodeJS.Signals, seconds: number])[]): Promise<void>
}

export interface Supervisor {
  create(name: string, command: ProcessCommand): SupervisedProcess
}

/** Long enough that a program which cannot start does not fill its log. */
const restartDelayMs = 1_000

/** `report` gets a line whenever a process ended by itself. */
export function createSupervisor(data: string, report: (line: string) => void): Supervisor {
  const running = new Map<string, number>()

  return { create }

  function create(name: string, first: ProcessCommand): SupervisedProcess {
    let command = first
    let child: ChildProcess | undefined
    let isWanted = false
    let restarts = 0

    function run(): void {
      const log = openSync(join(data, 'logs', `${name}.log`), 'a')
      const [file = '', ...args] = command.command
      const started = spawn(file, args, {
        cwd: data,
        env: { PATH: process.env['PATH'], ...command.env },
        stdio: ['ignore', log, log],
        // Ctrl+C goes to the script alone, which stops them in order.
        detached: true,
        ...command.user,
      })
      closeSync(log)
      child = started
      if (started.pid !== undefined) running.set(name, started.pid)
      record()
      started.once('error', (error) => report(`${name} cannot start: ${error.message}`))
      started.once('exit', (code, signal) => {
        running.delete(name)
        record()
        if (isWanted && child === started) {
          report(`${name} ended (${signal ?? code}), and is started again`)
          setTimeout(() => restart(started), restartDelayMs)
        }
      })
    }

    function restart(ended: ChildProcess): void {
      if (!isWanted || child !== ended) return
      restarts += 1
      run()
    }

    return {
      name,
      get pid() {
        return running.get(name)
      },
      get restarts() {
        return restarts
      },
      start(next = command) {
        command = next
        isWanted = true
        if (!running.has(name)) run()
      },
      async stop(...signals) {
        isWanted = false
        const ending = child
        child = undefined
        if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return
        const exited = once(ending, 'exit')
        for (const [signal, seconds] of signals) {
          ending.kill(signal)
          const isOver = await Promise.race([exited.then(() => true), sleep(seconds * 1_000, false, { ref: false })])
          if (isOver) return
        }
        ending.kill('SIGKILL')
        await exited
      },
    }
  }

  /** For `stopLeftovers`. */
  function record(): void {
    const list = [...running].map(([name, pid]) => ({ name, pid, startedAt: startTimeOf(pid) }))
    writeFileSync(join(data, 'processes.json'), JSON.stringify(list))
  }
}

/** Ends the processes of a script that was killed and could not stop them. */
export async function stopLeftovers(data: string, report: (line: string) => void): Promise<void> {
  const file = join(data, 'processes.json')
  if (!existsSync(file)) return
  const list = JSON.parse(readFileSync(file, 'utf8')) as { name: string; pid: number; startedAt?: string }[]
  const left = list.filter(({ pid, startedAt }) => startedAt !== undefined && startTimeOf(pid) === startedAt)
  for (const { name, pid } of left) {
    report(`stopping ${name} (${pid}), which the last run left behind`)
    process.kill(pid, name.startsWith('pg') ? 'SIGINT' : 'SIGTERM')
  }
  for (const { pid, startedAt } of left) {
    for (let tries = 0; startTimeOf(pid) === startedAt; tries += 1) {
      if (tries === 300) process.kill(pid, 'SIGKILL')
      await sleep(100)
    }
  }
}

/**
 * In clock ticks since the machine started: tells a process from another with the same number. `undefined` if it has ended, also if its
 * parent never asked for its exit code.
 */
function startTimeOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program is in brackets and may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? undefined : fields[19]
  } catch {
    return undefined
  }
}
