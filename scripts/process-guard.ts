/**
 * Ends every process of a test run when the run ends, however it ends, and removes the folder of the run:
 * `node process-guard.ts <folder>`, with a standard input that the run holds open.
 *
 * Browsers, databases and hubs start process groups of their own, which a signal to the group of the run does not reach. So the
 * processes of a run are those with its folder in their environment, and their descendants. Linux only: it reads /proc.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** How long a process may take to end by SIGTERM, and how long all may take in the end. */
const graceMs = 2_000
const limitMs = 15_000

interface Process {
  readonly pid: number
  /** The parent; `undefined` if the process has ended and only waits for its parent. */
  readonly parent: number | undefined
  /** Pid and start time: a pid is used again. */
  readonly key: string
}

const [folder = ''] = process.argv.slice(2)
// A terminal signals the whole group. The guard ends after the run.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
process.stdin.resume().once('close', () => void endRun())

async function endRun(): Promise<void> {
  const startedAt = performance.now()
  // A process without the environment of the run is known only as long as its parent runs.
  const terminated = new Set<string>()
  for (let left = processesOfRun(terminated); left.length > 0; left = processesOfRun(terminated)) {
    const ms = performance.now() - startedAt
    if (ms > limitMs) {
      console.error(`These processes of the tests do not end: ${left.map(({ pid }) => pid).join(', ')}`)
      break
    }
    for (const { pid, key } of left) {
      if (ms > graceMs) sendSignal(pid, 'SIGKILL')
      else if (!terminated.has(key)) sendSignal(pid, 'SIGTERM')
      terminated.add(key)
    }
    await sleep(50)
  }
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  } catch (reason) {
    console.error(`${folder} cannot be removed: ${(reason as Error).message}`)
  }
}

function processesOfRun(terminated: ReadonlySet<string>): readonly Process[] {
  const processes = new Map(readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [readProcess(name)] : [])))
  const isOfRun = (pid: number | undefined): boolean => {
    const one = pid === undefined ? undefined : processes.get(pid)
    return one !== undefined && (terminated.has(one.key) || hasFolder(one.pid) || isOfRun(one.parent))
  }
  return [...processes.values()].filter(
    ({ pid, parent }) => pid !== process.pid && parent !== undefined && isOfRun(pid),
  )
}

function readProcess(name: string): readonly [number, Process] {
  const pid = Number(name)
  // The name of the program may have spaces and brackets. From the state on: state, parent, …, start time.
  const fields = readProc(pid, 'stat').split(') ').at(-1)?.split(' ') ?? []
  const [state, parent] = fields
  const hasEnded = parent === undefined || state === 'Z'
  return [pid, { pid, parent: hasEnded ? undefined : Number(parent), key: `${pid} ${fields[19]}` }]
}

/** A shell that only stands in the folder is not of the run. */
function hasFolder(pid: number): boolean {
  const variables = readProc(pid, 'environ').split('\0')
  return variables.some((variable) => variable.includes(folder) && !/^(OLD)?PWD=/.test(variable))
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
