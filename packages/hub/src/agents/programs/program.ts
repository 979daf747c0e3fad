/**
 * A child process of the hub: its output with backpressure, its stderr line by line, and a reliable end. It leads its own
 * process group, so that its child processes end with it.
 */
import { resultWithin } from '@parley/a2a/internal'
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import type { Readable } from 'node:stream'
import { attempt } from '../../json/attempt.ts'
import { createErrorOutput } from './error-output.ts'

export interface ProgramOptions {
  /** The program and its arguments. No shell is used. */
  readonly command: readonly [string, ...(readonly string[])]
  readonly cwd: string
  /** The complete environment. */
  readonly env: Readonly<Record<string, string>>
  /** How long it may take to exit after SIGTERM. */
  readonly graceMs: number
  /** Called for lines of stderr, at most 200 a minute. */
  onError(line: string): void
  /** More lines arrived and are dropped until the minute is over. */
  onErrorsDropped?: (() => void) | undefined
  /** Receives all of stderr as it arrives, instead of `onError`. */
  onErrorBytes?: ((chunk: Uint8Array) => void) | undefined
}

export type ProgramExit =
  | { readonly code: number }
  /** It was stopped by a signal, or it crashed. */
  | { readonly signal: string }
  /** It never started. */
  | { readonly error: Error }

export interface Program {
  /** Undefined if it never started. */
  readonly pid: number | undefined
  /** Can be read once. Ends when the program has exited, or when no process is left that could write. */
  readonly output: AsyncIterable<Uint8Array>
  readonly exited: Promise<ProgramExit>
  /** The last lines of its stderr, for operators. Resolves when stderr has ended, or soon if another process holds it open. */
  lastErrors(): Promise<string>
  /** Buffered until the program reads it. A program that stops reading is no error: it may have enough input. */
  write(text: string): void
  endInput(): void
  /** Sends SIGTERM to its process group, then SIGKILL. Resolves when all of them have ended. */
  stop(): Promise<void>
}

/** Remaining output after the exit arrives within this time; otherwise another process holds the pipe open. */
const silenceMs = 1_000

export function startProgram(options: ProgramOptions): Program {
  const [file, ...args] = options.command
  try {
    const child = spawn(file, args, {
      cwd: options.cwd,
      env: { ...options.env },
      stdio: 'pipe',
      detached: true,
      windowsHide: true,
    })
    return runningProgram(child, options)
  } catch (reason) {
    // A NUL in an argument, or too many arguments for the system.
    return failedProgram(reason)
  }
}

function runningProgram(child: ChildProcessWithoutNullStreams, options: ProgramOptions): Program {
  const { graceMs } = options
  const exited = new Promise<ProgramExit>((resolve) => {
    child.once('error', (error) => resolve({ error }))
    child.once('exit', (code, signal) => resolve(signal === null ? { code: code ?? 0 } : { signal }))
  })
  // The program may have ended.
  child.stdin.on('error', () => {})
  child.stdout.on('error', () => {})
  child.stderr.on('error', () => {})
  logStderr(child.stderr, options)
  const lastErrors = keepLastLines(child.stderr)
  void exited.then(stopGroup)
  let stopping: Promise<void> | undefined

  function signalGroup(signal: NodeJS.Signals): boolean {
    const { pid } = child
    return pid !== undefined && attempt(() => process.kill(-pid, signal)) === true
  }

  /** Child processes that it left hold its output open; their end is not awaited. */
  function stopGroup(): void {
    if (!signalGroup('SIGTERM')) return
    const end = setTimeout(() => signalGroup('SIGKILL'), Math.min(graceMs, silenceMs))
    end.unref()
  }

  async function stop(): Promise<void> {
    child.stdin.destroy()
    signalGroup('SIGTERM')
    const late = setTimeout(() => signalGroup('SIGKILL'), graceMs)
    await exited
    clearTimeout(late)
    signalGroup('SIGKILL')
    child.stdout.destroy()
    child.stderr.destroy()
  }

  return {
    pid: child.pid,
    exited,
    lastErrors,
    output: outputOf(child, exited),
    write: (text) => void (child.stdin.writable && child.stdin.write(text)),
    endInput: () => void child.stdin.end(),
    stop: () => (stopping ??= stop()),
  }
}

/** Reads chunks on demand: a program that writes too fast is blocked by its pipe. */
async function* outputOf(
  { stdout }: ChildProcessWithoutNullStreams,
  exited: Promise<ProgramExit>,
): AsyncGenerator<Uint8Array> {
  const chunks = stdout[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
  let hasExited = false
  let wake: (() => void) | undefined
  void exited.then(() => {
    hasExited = true
    wake?.()
  })
  for (;;) {
    const next = chunks.next().catch(() => endOfOutput)
    // Without Promise.race, which would add a listener to the exit for each chunk of a program that may run for days.
    if (!hasExited) {
      await new Promise<void>((resolve) => {
        wake = resolve
        void next.then(() => resolve())
      })
    }
    const step = hasExited ? await resultWithin(next, silenceMs, endOfOutput) : await next
    if (step.done === true) return
    yield step.value
  }
}

const endOfOutput = { done: true, value: undefined } as const

/** Uses events instead of iteration, so that dropped data is dropped as it arrives, 64 kB at a time. */
function logStderr(stderr: Readable, { onError, onErrorsDropped, onErrorBytes }: ProgramOptions): void {
  if (onErrorBytes !== undefined) {
    stderr.on('data', onErrorBytes)
    return
  }
  const output = createErrorOutput({ onLine: onError, onDropped: onErrorsDropped })
  stderr.on('data', output.push)
  stderr.on('end', output.end)
}

/** A traceback of Python has two lines for each call. */
const lastLines = 20
const lastBytes = 4_000

function keepLastLines(stderr: Readable): () => Promise<string> {
  let last = Buffer.alloc(0)
  const ended = new Promise<void>((resolve) => stderr.once('close', resolve))
  stderr.on('data', (chunk: Buffer) => {
    last = Buffer.concat([last, chunk.subarray(-lastBytes)]).subarray(-lastBytes)
  })
  return async () => {
    await resultWithin(ended, silenceMs)
    return last.toString().trimEnd().split('\n').slice(-lastLines).join('\n')
  }
}

function failedProgram(reason: unknown): Program {
  const exit = async (): Promise<ProgramExit> => ({
    error: reason instanceof Error ? reason : new Error(String(reason)),
  })
  return {
    pid: undefined,
    exited: exit(),
    lastErrors: async () => '',
    output: (async function* () {})(),
    write() {},
    endInput() {},
    async stop() {},
  }
}
