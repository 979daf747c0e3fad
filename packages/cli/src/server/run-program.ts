/** Runs a shell command in a process group of its own, so that ending it also ends what it started. */
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { platform } from 'node:os'
import { kill } from 'node:process'
import type { Readable, Writable } from 'node:stream'

export interface ProgramOptions {
  readonly command: string
  readonly cwd: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** All of stdin. */
  readonly input: string
  /** Ends the program and everything it started. */
  readonly signal: AbortSignal
}

export interface RunningProgram {
  readonly stdout: Readable
  /** The end of stderr, once the program has ended: at most 16,000 characters. */
  errorText(): string
  /** Resolves when the program has ended and its output was read. Rejects if it cannot start. */
  readonly ended: Promise<ProgramExit>
  /** Asks the program to end, and ends it by force if it does not. */
  stop(): void
  /** Ends it by force, at once. */
  kill(): void
}

export interface ProgramExit {
  readonly code: number | null
  readonly signal: string | null
}

/** How long a program may take to end after SIGTERM. */
const graceMs = 2_000
const maxErrorLength = 16_000
const isWindows = platform() === 'win32'

export function runProgram({ command, cwd, environment, input, signal }: ProgramOptions): RunningProgram {
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(command, {
    shell: true,
    cwd,
    env: environment,
    // A group of its own. On Windows this would open a window instead.
    detached: !isWindows,
    windowsHide: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let errorText = ''
  let force: ReturnType<typeof setTimeout> | undefined
  const stop = (): void => {
    if (force !== undefined) return
    signalGroup(child.pid, 'SIGTERM')
    force = setTimeout(() => {
      signalGroup(child.pid, 'SIGKILL')
      // What has left the group, as by setsid, may hold the pipes: the task ends without it.
      child.stdout.destroy()
      child.stderr.destroy()
    }, graceMs)
    force.unref()
  }
  const ended = new Promise<ProgramExit>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, by) => resolve({ code, signal: by }))
  }).finally(() => {
    signal.removeEventListener('abort', stop)
    clearTimeout(force)
    // What the shell started in the background must not outlive the task.
    signalGroup(child.pid, 'SIGKILL')
  })
  ended.catch(() => {})
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errorText = (errorText + chunk).slice(-maxErrorLength)
  })
  // A program that does not read its input closes the pipe.
  child.stdin.on('error', () => {}).end(input)
  return {
    stdout: child.stdout,
    errorText: () => errorText,
    ended,
    stop,
    kill: () => signalGroup(child.pid, 'SIGKILL'),
  }
}

function signalGroup(pid: number | undefined, name: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return
  try {
    kill(isWindows ? pid : -pid, name)
  } catch {
    // The group has ended.
  }
}
