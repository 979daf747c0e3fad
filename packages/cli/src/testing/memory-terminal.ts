/** A terminal in memory, to run commands without a process. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { runA2a } from '../run.ts'
import type { Terminal } from '../terminal.ts'

export interface MemoryTerminal extends Terminal {
  /** Everything that was written to stdout. */
  readonly stdout: string
  readonly stderr: string
  /** As Ctrl-C does. */
  interrupt(): void
  /** Resolves once stdout has the text. */
  untilOutput(text: string): Promise<void>
  /** Resolves once stderr has the text. */
  untilError(text: string): Promise<void>
}

export interface MemoryTerminalOptions {
  readonly environment?: Readonly<Record<string, string>>
  /** Default: a new empty folder, so that no `.env` above it counts. */
  readonly cwd?: string
  /** Default: the same folder as `cwd`. */
  readonly home?: string
  /** What stdin has. Default: it ends at once. */
  readonly input?: string | Uint8Array
  readonly isTerminal?: boolean
  readonly columns?: number
  /** The first write to stdout after this many bytes fails with EPIPE. */
  readonly breaksAfterBytes?: number
}

export function createMemoryTerminal(options: MemoryTerminalOptions = {}): MemoryTerminal {
  const { environment = {}, isTerminal = false, breaksAfterBytes = Infinity } = options
  const cwd = options.cwd ?? mkdtempSync(join(tmpdir(), 'parley-cli-'))
  const listeners = new Set<(count: number) => void>()
  const waits = new Set<() => void>()
  let [stdout, stderr, interrupts] = ['', '', 0]
  const input = new PassThrough()
  if (options.input !== undefined || !isTerminal) input.end(options.input ?? '')
  const output = new PassThrough()
  const changed = (): void => {
    for (const check of waits) check()
  }
  const write = (text: string): void => {
    stdout += text
    changed()
  }
  output.on('data', (chunk: Buffer) => write(chunk.toString('utf8')))
  const until = (has: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const check = (): void => {
        if (!has()) return
        waits.delete(check)
        resolve()
      }
      waits.add(check)
      check()
    })
  return {
    program: 'a2a',
    environment,
    cwd,
    home: options.home ?? cwd,
    isInputTerminal: isTerminal,
    isOutputTerminal: isTerminal,
    isErrorTerminal: isTerminal,
    columns: options.columns,
    input,
    output,
    async write(text) {
      if (stdout.length + text.length > breaksAfterBytes)
        throw Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })
      write(text)
    },
    writeError(text) {
      stderr += text
      changed()
    },
    onInterrupt(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    get stdout() {
      return stdout
    },
    get stderr() {
      return stderr
    },
    interrupt() {
      interrupts += 1
      for (const listener of listeners) listener(interrupts)
    },
    untilOutput: (text) => until(() => stdout.includes(text)),
    untilError: (text) => until(() => stderr.includes(text)),
  }
}

export interface RunResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs one command line in memory, to its end. */
export async function runInMemory(args: readonly string[], options?: MemoryTerminalOptions): Promise<RunResult> {
  const terminal = createMemoryTerminal(options)
  const code = await runA2a(args, terminal)
  return { code, stdout: terminal.stdout, stderr: terminal.stderr }
}
