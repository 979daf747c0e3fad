/**
 * Ends every process of a test run when the run ends, however it ends, and removes the folder of the run:
 * `node process-guard.ts <folder>`, with a standard input that the run holds open.
 *
 * Browsers, databases and hubs start process groups of their own, which a signal to the group of the run does not reach. So the
 * processes of a run are those with its folder in their environment, and their descendants. Linux only: it reads /proc.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** How long a process may take to end by SIGTERM. */
const graceMs = 2_000

const [folder = ''] = process.argv.slice(2)
// A terminal signals the whole group. The guard ends after the run.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
process.stdin.resume().once('close', () => void endRun())

async function endRun(): Promise<void> {
  const killAt = performance.now() + graceMs
  // A process without the environment of the run is known only as long as its parent runs.
  const terminated = new Set<number>()
  for (let pids = processesOfRun(terminated); pids.length > 0; pids = processesOfRun(terminated)) {
    const isKillDue = performance.now() > killAt
    for (const pid of pids) {
      if (isKillDue) sendSignal(pid, 'SIGKILL')
      else if (!terminated.has(pid)) sendSignal(pid, 'SIGTERM')
      terminated.add(pid)
    }
    await sleep(50)
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

function processesOfRun(known: ReadonlySet<number>): readonly number[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
  const parents = new Map(pids.map((pid) => [pid, parentOf(pid)]))
  const isOfRun = (pid: number | undefined): boolean =>
    pid !== undefined && (known.has(pid) || readProc(pid, 'environ').includes(folder) || isOfRun(parents.get(pid)))
  return pids.filter((pid) => pid !== process.pid && parents.get(pid) !== undefined && isOfRun(pid))
}

/** `undefined` also for a zombie, which only waits for its parent. */
function parentOf(pid: number): number | undefined {
  const [, state, parent] = /\) (\S) (\d+) /.exec(readProc(pid, 'stat')) ?? []
  return state === undefined || state === 'Z' ? undefined : Number(parent)
}

function readProc(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return '' // It has ended, or belongs to another user.
  }
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended.
  }
}
