/**
 * A program as a child of the hub: its output as it comes and no faster than it is read, its errors line by line, and an
 * end that is an end. It leads a process group of its own, so that what it started goes with it.
 */
import { spawn } from 'node:child_process'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { createErrorOutput } from './error-output.ts'

export interface ProgramOptions {
  /** The program and its arguments. No shell is asked. */
  readonly command: readonly [string, ...(readonly string[])]
  readonly cwd: string
  /** All that it sees of any environment. */
  readonly env: Readonly<Record<string, string>>
  /** How long it may take to end by itself once it is told to. */
  readonly graceMs: number
  /** Lines of its error output, at most 200 a minute. */
  onError(line: string): void
  /** More lines came, and are dropped until the minute is over. */
  onErrorsDropped?: (() => void) | undefined
  /** Takes the error output as it comes, all of it, instead of `onError`. */
  onErrorBytes?: ((chunk: Uint8Array) => void) | undefined
}

export type Exit =
  | { readonly code: number }
  /** Somebody stopped it, or it crashed. */
  | { readonly signal: string }
  /** It never ran. */
  | { readonly error: Error }

export interface Program {
  /** Nothing if it never ran. */
  readonly pid: number | undefined
  /** To be read once. Ends when the program has, or when nobody is left who could write. */
  readonly output: AsyncIterable<Uint8Array>
  readonly exited: Promise<Exit>
  /** Kept here until the program takes it. One that reads no more is no failure: it may have heard enough. */
  write(text: string): void
  endInput(): void
  /** Asks it and all of its group to end, then makes them. Resolves when they are gone. */
  stop(): Promise<void>
}

/** What is still on its way when a program has ended comes within this, or somebody else holds its output open. */
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
    return running(child, options)
  } catch (reason) {
    // A NUL in an argument, or more of them than the system takes.
    return neverRan(reason)
  }
}

function running(child: ChildProcessWithoutNullStreams, options: ProgramOptions): Program {
  const { graceMs } = options
  const exited = new Promise<Exit>((resolve) => {
    child.once('error', (error) => resolve({ error }))
    child.once('exit', (code, signal) => resolve(signal === null ? { code: code ?? 0 } : { signal }))
  })
  // It goes to a program that may be gone.
  child.stdin.on('error', () => {})
  child.stdout.on('error', () => {})
  child.stderr.on('error', () => {})
  tellErrors(child.stderr, options)
  void exited.then(stopGroup)
  let stopping: Promise<void> | undefined

  function signalGroup(signal: NodeJS.Signals): boolean {
    if (child.pid === undefined) return false
    try {
      return process.kill(-child.pid, signal)
    } catch {
      return false
    }
  }

  /** What it left behind holds its output open, and nobody waits for that. */
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
    output: outputOf(child, exited),
    write: (text) => void (child.stdin.writable && child.stdin.write(text)),
    endInput: () => void child.stdin.end(),
    stop: () => (stopping ??= stop()),
  }
}

/** Chunks are taken when they are wanted: a program that floods is held up by its own pipe. */
async function* outputOf(
  { stdout }: ChildProcessWithoutNullStreams,
  exited: Promise<Exit>,
): AsyncGenerator<Uint8Array> {
  const chunks = stdout[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
  let hasExited = false
  let wake: (() => void) | undefined
  void exited.then(() => {
    hasExited = true
    wake?.()
  })
  for (;;) {
    const next = chunks.next().catch(() => over)
    // By hand: a race would hang a listener on the exit for each chunk of a program that may run for days.
    if (!hasExited) {
      await new Promise<void>((resolve) => {
        wake = resolve
        void next.then(() => resolve())
      })
    }
    const step = hasExited ? await orSilence(next) : await next
    if (step.done === true) return
    yield step.value
  }
}

const over = { done: true, value: undefined } as const

async function orSilence<T>(next: Promise<T>): Promise<T | typeof over> {
  const waiting = new AbortController()
  const silence = sleep(silenceMs, over, { signal: waiting.signal }).catch(() => over)
  try {
    return await Promise.race([next, silence])
  } finally {
    waiting.abort()
  }
}

/** By events and not by iteration: what is dropped is then dropped as it comes, 64 kB at a time. */
function tellErrors(stderr: Readable, { onError, onErrorsDropped, onErrorBytes }: ProgramOptions): void {
  if (onErrorBytes !== undefined) {
    stderr.on('data', onErrorBytes)
    return
  }
  const output = createErrorOutput({ onLine: onError, onDropped: onErrorsDropped })
  stderr.on('data', output.push)
  stderr.on('end', output.end)
}

function neverRan(reason: unknown): Program {
  const exit = async (): Promise<Exit> => ({ error: reason instanceof Error ? reason : new Error(String(reason)) })
  return {
    pid: undefined,
    exited: exit(),
    output: (async function* () {})(),
    write() {},
    endInput() {},
    async stop() {},
  }
}
