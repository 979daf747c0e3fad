/** Runs the program in a process: its streams, signals and exit code. main.ts passes the process in. */
import { homedir } from 'node:os'
import { runA2a } from './run.ts'
import type { Terminal } from './terminal.ts'

const interruptSignals = ['SIGINT', 'SIGTERM'] as const

/**
 * Runs a command line with the streams of this process and sets its exit code. The process ends when all output is written.
 * `program` is how the user starts it: `a2a`.
 */
export async function runInProcess(host: NodeJS.Process, args: readonly string[], program: string): Promise<void> {
  const { terminal, stop } = processTerminal(host, program)
  const code = await runA2a(args, terminal)
  host.exitCode = code
  stop()
}

function processTerminal(host: NodeJS.Process, program: string): { readonly terminal: Terminal; stop(): void } {
  const listeners = new Set<(count: number) => void>()
  let count = 0
  const interrupt = (): void => {
    count += 1
    // A command that does not react to the first signals must not keep the user waiting.
    if (listeners.size === 0 || count > 2) host.exit(130)
    for (const listener of listeners) listener(count)
  }
  for (const signal of interruptSignals) host.on(signal, interrupt)
  // A reader that has gone is reported by the write; without a listener it would end the process with a stack trace.
  for (const stream of [host.stdout, host.stderr]) stream.on('error', () => {})
  const terminal: Terminal = {
    program,
    environment: host.env,
    cwd: host.cwd(),
    home: homeFolder(),
    get isInputTerminal() {
      return host.stdin.isTTY
    },
    isOutputTerminal: host.stdout.isTTY,
    isErrorTerminal: host.stderr.isTTY,
    get columns() {
      // Some terminals tell 0.
      return host.stdout.columns > 0 ? host.stdout.columns : undefined
    },
    get input() {
      return host.stdin
    },
    output: host.stdout,
    write: (text) =>
      new Promise((resolve, reject) => {
        host.stdout.write(text, (failure) => (failure ? reject(failure) : resolve()))
      }),
    writeError: (text) => void host.stderr.write(text),
    onInterrupt(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  return {
    terminal,
    stop() {
      for (const signal of interruptSignals) host.off(signal, interrupt)
    },
  }
}

function homeFolder(): string | undefined {
  try {
    return homedir()
  } catch {
    return undefined
  }
}
